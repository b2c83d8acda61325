//! Null pointers: refused where something is needed, accepted where nothing is.

use skinbench_capi::*;
use std::ptr::{null, null_mut};

const NOTHING: SkinbenchArray = SkinbenchArray {
    data: null(),
    bytes: 0,
    stride: 0,
};
const NOWHERE: SkinbenchOutputArray = SkinbenchOutputArray {
    data: null_mut(),
    bytes: 0,
    stride: 0,
};

fn array<T>(items: &[T], stride: usize) -> SkinbenchArray {
    SkinbenchArray {
        data: items.as_ptr().cast(),
        bytes: size_of_val(items),
        stride,
    }
}

/// A vertex at the origin with one influence.
fn one() -> SkinbenchInput {
    SkinbenchInput {
        vertices: 1,
        influences: 1,
        joint_type: SKINBENCH_U8,
        weight_type: SKINBENCH_U8,
        joints: array(&[0u8; 1], 1),
        weights: array(&[255u8; 1], 1),
        positions: array(&[0.0f32; 3], 12),
        normals: NOTHING,
        tangents: NOTHING,
    }
}

fn job(input: &SkinbenchInput) -> (SkinbenchStatus, *mut SkinbenchJob) {
    let mut job = null_mut();
    // SAFETY: the arrays are those of constants.
    (unsafe { skinbench_job_new(input, &mut job) }, job)
}

fn clusters(input: &SkinbenchInput) -> (SkinbenchStatus, *mut SkinbenchClusters) {
    let mut clusters = null_mut();
    // SAFETY: as above.
    (
        unsafe { skinbench_clusters_new(input, &mut clusters) },
        clusters,
    )
}

#[test]
fn null_data_of_structures_are_null_pointers() {
    let inputs = [
        SkinbenchInput {
            joints: NOTHING,
            ..one()
        },
        SkinbenchInput {
            weights: NOTHING,
            ..one()
        },
        SkinbenchInput {
            positions: NOTHING,
            ..one()
        },
    ];
    for input in inputs {
        assert_eq!(job(&input).0, SkinbenchStatus::NullPointer, "{input:?}");
        assert_eq!(
            clusters(&input).0,
            SkinbenchStatus::NullPointer,
            "{input:?}"
        );
    }
    let palette = SkinbenchPalette {
        matrices: [0.0f32; 12].as_ptr(),
        count: 1,
        form: SKINBENCH_ROWS,
    };
    let (_, job) = job(&one());
    let (_, clusters) = clusters(&one());
    let output = SkinbenchOutput {
        positions: NOWHERE,
        normals: NOWHERE,
        tangents: NOWHERE,
    };
    // SAFETY: all pointers are null, of constants, or of objects that are freed here.
    unsafe {
        assert_eq!(
            skinbench_job_run(job, &palette, SKINBENCH_UNIT, 0, 1, &output),
            SkinbenchStatus::NullPointer
        );
        assert_eq!(
            skinbench_clusters_run(
                clusters,
                &palette,
                SKINBENCH_UNIT,
                SKINBENCH_P,
                null_mut(),
                3
            ),
            SkinbenchStatus::NullPointer
        );
        skinbench_job_free(job);
        skinbench_clusters_free(clusters);
    }
}

#[test]
fn nothing_may_be_at_null() {
    let input = SkinbenchInput {
        vertices: 0,
        joints: NOTHING,
        weights: NOTHING,
        positions: NOTHING,
        ..one()
    };
    let (status, job) = job(&input);
    assert_eq!(status, SkinbenchStatus::Ok);
    let (status, clusters) = clusters(&input);
    assert_eq!(status, SkinbenchStatus::Ok);
    let palette = SkinbenchPalette {
        matrices: null(),
        count: 0,
        form: SKINBENCH_ROWS,
    };
    let output = SkinbenchOutput {
        positions: NOWHERE,
        normals: NOWHERE,
        tangents: NOWHERE,
    };
    // SAFETY: as above.
    unsafe {
        assert_eq!(
            skinbench_job_run(job, &palette, SKINBENCH_UNIT, 0, 0, &output),
            SkinbenchStatus::Ok
        );
        assert_eq!(
            skinbench_clusters_run(
                clusters,
                &palette,
                SKINBENCH_UNIT,
                SKINBENCH_P,
                null_mut(),
                0
            ),
            SkinbenchStatus::Ok
        );
        assert_eq!(
            skinbench_rows_of_columns(null(), 0, null_mut()),
            SkinbenchStatus::Ok
        );
        assert_eq!(
            skinbench_palette(null(), 0, null(), null(), 0, null_mut()),
            SkinbenchStatus::Ok
        );
        skinbench_job_free(job);
        skinbench_clusters_free(clusters);
    }
}
