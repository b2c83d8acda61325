//! Jobs and clusters.

use crate::status::{
    Fault, SkinbenchStatus, at, give, guarded, invalid, list, list_mut, null, part_mut, take,
};
use skinbench_kernels::model::{Rows, columns_to_rows};
use skinbench_kernels::simd::Isa;
use skinbench_kernels::skin::{
    Clusters, Joints, Palette, SkinningInput, SkinningJob, SkinningOutput, Store, Strided,
    StridedMut, Weights, skin_clusters,
};
use skinbench_kernels::vertex::{Attributes, Normals, VertexFormat};
use std::cell::Cell;
use std::ffi::c_void;

/// Type of numbers: float. Of weights alone.
pub const SKINBENCH_F32: u32 = 0;
/// Type of numbers: uint8_t. As a weight, 255 is 1.
pub const SKINBENCH_U8: u32 = 1;
/// Type of numbers: uint16_t. As a weight, 65535 is 1.
pub const SKINBENCH_U16: u32 = 2;

/// Form of a matrix: three rows of four floats.
pub const SKINBENCH_ROWS: u32 = 0;
/// Form of a matrix: four columns of four floats. The fourth float of each is not read.
pub const SKINBENCH_COLUMNS: u32 = 1;

/// Treatment of normals and tangents: normalised after they were moved by the 3x3 part of the matrix.
pub const SKINBENCH_UNIT: u32 = 0;
/// Treatment of normals and tangents: moved, and left with the length that they have then.
pub const SKINBENCH_RAW: u32 = 1;
/// Treatment of normals: moved by cofactors and normalised, right under uneven scale too; tangents as SKINBENCH_UNIT.
pub const SKINBENCH_EXACT: u32 = 2;

/// Attributes of clusters' output: position, 3 floats.
pub const SKINBENCH_P: u32 = 0;
/// Attributes of clusters' output: position and normal, 6 floats.
pub const SKINBENCH_PN: u32 = 1;
/// Attributes of clusters' output: position, normal, tangent and its handedness, 10 floats.
pub const SKINBENCH_PNT: u32 = 2;

/// Numbers of vertices in memory of the caller, which need no alignment. Null data stand for an attribute that may be
/// absent and is, or for the numbers of 0 vertices.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SkinbenchArray {
    /// Address of the first vertex.
    pub data: *const c_void,
    /// Bytes of the buffer from there on.
    pub bytes: usize,
    /// Bytes from one vertex to the next.
    pub stride: usize,
}

/// Places for numbers of vertices, as SkinbenchArray.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SkinbenchOutputArray {
    /// Address of the first vertex.
    pub data: *mut c_void,
    /// Bytes of the buffer from there on.
    pub bytes: usize,
    /// Bytes from one vertex to the next.
    pub stride: usize,
}

/// Vertices before skinning.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SkinbenchInput {
    /// Number of vertices.
    pub vertices: usize,
    /// Influences of each vertex, 1 to 256.
    pub influences: usize,
    /// SKINBENCH_U8 or SKINBENCH_U16.
    pub joint_type: u32,
    /// SKINBENCH_F32, SKINBENCH_U8 or SKINBENCH_U16.
    pub weight_type: u32,
    /// Indices into the palette, one for each influence; also where the weight is 0.
    pub joints: SkinbenchArray,
    /// Weights, one for each influence; their sum should be 1.
    pub weights: SkinbenchArray,
    /// x y z, float.
    pub positions: SkinbenchArray,
    /// x y z, float. May be absent.
    pub normals: SkinbenchArray,
    /// x y z, float; for clusters, the handedness follows. May be absent.
    pub tangents: SkinbenchArray,
}

/// Matrices that move vertices: model poses times inverse binds. One that is not finite also spoils vertices that name it
/// with weight 0, and with clusters their neighbours.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SkinbenchPalette {
    /// The matrices, one after the other.
    pub matrices: *const f32,
    /// Number of matrices.
    pub count: usize,
    /// SKINBENCH_ROWS or SKINBENCH_COLUMNS.
    pub form: u32,
}

/// Places for skinned vertices, x y z each. Attributes may lie between each other, and what else lies between them is left
/// as it is; of places that overlap, the later one stays.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct SkinbenchOutput {
    /// Positions.
    pub positions: SkinbenchOutputArray,
    /// Normals. May be absent.
    pub normals: SkinbenchOutputArray,
    /// Tangents. May be absent.
    pub tangents: SkinbenchOutputArray,
}

/// Vertices that have been checked, to be skinned frame after frame, one vertex at a time.
pub struct SkinbenchJob(SkinningJob<'static>);

/// A copy of vertices, sorted so that many are skinned at a time: faster than a job.
pub struct SkinbenchClusters(Clusters);

/// Makes a job. The buffers of `input` stay the caller's: until the job is freed, they must stay where they are and not
/// change.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_job_new(
    input: *const SkinbenchInput,
    job: *mut *mut SkinbenchJob,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    unsafe {
        give(job, || {
            Ok(SkinbenchJob(SkinningJob::new(slices(at(
                "input", input,
            )?)?)?))
        })
    }
}

/// Frees a job. Null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_job_free(job: *mut SkinbenchJob) {
    // SAFETY: the caller's.
    unsafe { take(job) }
}

/// Skins `count` vertices of a job from vertex `first` on; `output` begins with that vertex. Several threads
/// may skin parts of a job at a time. `normals` is SKINBENCH_UNIT, SKINBENCH_RAW or SKINBENCH_EXACT. Outputs must not
/// overlap the input.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_job_run(
    job: *const SkinbenchJob,
    palette: *const SkinbenchPalette,
    normals: u32,
    first: usize,
    count: usize,
    output: *const SkinbenchOutput,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    guarded(|| unsafe {
        let job = &at("job", job)?.0;
        let palette = matrices(at("palette", palette)?)?;
        let output = at("output", output)?;
        let output = SkinningOutput {
            positions: match output_attribute("output positions", &output.positions)? {
                Some(positions) => positions,
                None if count == 0 => StridedMut::of_cells(&[], 0, 0),
                None => return Err(null("output positions")),
            },
            normals: output_attribute("output normals", &output.normals)?,
            tangents: output_attribute("output tangents", &output.tangents)?,
        };
        let vertices = first..first.saturating_add(count);
        Ok(job.run(
            Isa::strongest(),
            palette,
            treatment(normals)?,
            vertices,
            output,
        )?)
    })
}

/// Makes clusters. They copy what they need: the buffers of `input` may change or go afterwards.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_clusters_new(
    input: *const SkinbenchInput,
    clusters: *mut *mut SkinbenchClusters,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    unsafe {
        give(clusters, || {
            let input = slices(at("input", input)?)?;
            let clusters = Clusters::from_slices(Isa::strongest(), &input, Store::Cached)?;
            Ok(SkinbenchClusters(clusters))
        })
    }
}

/// Frees clusters. Null is left alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_clusters_free(clusters: *mut SkinbenchClusters) {
    // SAFETY: the caller's.
    unsafe { take(clusters) }
}

/// Skins all vertices, one after the other in the order of the input. `attributes` is SKINBENCH_P, SKINBENCH_PN or
/// SKINBENCH_PNT, and `length` the number of floats at `vertices`. Attributes that the input lacks become 0. The palette
/// has the form SKINBENCH_ROWS; skinbench_rows_of_columns makes it of SKINBENCH_COLUMNS. Threads that share a character
/// have clusters of a part of its vertices each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_clusters_run(
    clusters: *const SkinbenchClusters,
    palette: *const SkinbenchPalette,
    normals: u32,
    attributes: u32,
    vertices: *mut f32,
    length: usize,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    guarded(|| unsafe {
        let clusters = &at("clusters", clusters)?.0;
        let Palette::Rows(palette) = matrices(at("palette", palette)?)? else {
            return Err(invalid("palette: clusters take SKINBENCH_ROWS"));
        };
        let attributes = match attributes {
            SKINBENCH_P => Attributes::P,
            SKINBENCH_PN => Attributes::Pn,
            SKINBENCH_PNT => Attributes::Pnt,
            other => {
                let accepted = "SKINBENCH_P, SKINBENCH_PN or SKINBENCH_PNT";
                return Err(invalid(format!("attributes: {other}; expected {accepted}")));
            }
        };
        let format = VertexFormat {
            attributes,
            normals: treatment(normals)?,
            ..VertexFormat::default()
        };
        let needed = clusters.vertices() * format.floats();
        let vertices = part_mut("vertices", vertices, length, needed)?;
        Ok(skin_clusters(clusters, &[palette], format, vertices)?)
    })
}

/// Turns `count` matrices of four columns into matrices of three rows: 16 floats each into 12.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn skinbench_rows_of_columns(
    columns: *const f32,
    count: usize,
    rows: *mut f32,
) -> SkinbenchStatus {
    // SAFETY: the caller's.
    guarded(|| unsafe {
        let columns = list("columns", columns.cast::<[f32; 16]>(), count)?;
        let rows = list_mut("rows", rows.cast::<Rows>(), count)?;
        for (rows, columns) in rows.iter_mut().zip(columns) {
            *rows = columns_to_rows(columns);
        }
        Ok(())
    })
}

/// The input as slices.
///
/// # Safety
/// Its pointers are null or valid for as many bytes as they say during `'a`.
unsafe fn slices<'a>(input: &SkinbenchInput) -> Result<SkinningInput<'a>, Fault> {
    let needed = |name, array| {
        // SAFETY: the caller's.
        match unsafe { strided(name, array) }? {
            Some(array) => Ok(array),
            None if input.vertices == 0 => Ok(Strided::new::<u8>(&[], 0, 0)),
            None => Err(null(name)),
        }
    };
    let joints = needed("joints", &input.joints)?;
    let weights = needed("weights", &input.weights)?;
    Ok(SkinningInput {
        vertices: input.vertices,
        influences: input.influences,
        joints: match input.joint_type {
            SKINBENCH_U8 => Joints::U8(joints),
            SKINBENCH_U16 => Joints::U16(joints),
            other => {
                let accepted = "SKINBENCH_U8 or SKINBENCH_U16";
                return Err(invalid(format!("joint_type: {other}; expected {accepted}")));
            }
        },
        weights: match input.weight_type {
            SKINBENCH_F32 => Weights::F32(weights),
            SKINBENCH_U8 => Weights::U8(weights),
            SKINBENCH_U16 => Weights::U16(weights),
            other => {
                let accepted = "SKINBENCH_F32, SKINBENCH_U8 or SKINBENCH_U16";
                return Err(invalid(format!(
                    "weight_type: {other}; expected {accepted}"
                )));
            }
        },
        positions: needed("positions", &input.positions)?,
        // SAFETY: the caller's.
        normals: unsafe { strided("normals", &input.normals) }?,
        // SAFETY: the caller's.
        tangents: unsafe { strided("tangents", &input.tangents) }?,
    })
}

/// An array, or `None` if it is absent.
///
/// # Safety
/// As for [`slices`].
unsafe fn strided<'a>(name: &str, array: &SkinbenchArray) -> Result<Option<Strided<'a>>, Fault> {
    if array.data.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's.
    let bytes = unsafe { list(name, array.data.cast::<u8>(), array.bytes)? };
    Ok(Some(Strided::new(bytes, 0, array.stride)))
}

/// An attribute to be written, or `None` if it is absent.
///
/// # Safety
/// As for [`slices`], and no other thread uses these bytes.
unsafe fn output_attribute<'a>(
    name: &str,
    array: &SkinbenchOutputArray,
) -> Result<Option<StridedMut<'a>>, Fault> {
    if array.data.is_null() {
        return Ok(None);
    }
    // SAFETY: the caller's. Several outputs may share these bytes, which cells allow.
    let cells = unsafe {
        list(
            name,
            array.data.cast::<Cell<u8>>().cast_const(),
            array.bytes,
        )?
    };
    Ok(Some(StridedMut::of_cells(cells, 0, array.stride)))
}

/// # Safety
/// The palette's pointer is null or valid for as many matrices as it says during `'a`.
unsafe fn matrices<'a>(palette: &SkinbenchPalette) -> Result<Palette<'a>, Fault> {
    let SkinbenchPalette {
        matrices,
        count,
        form,
    } = *palette;
    // SAFETY: the caller's.
    unsafe {
        match form {
            SKINBENCH_ROWS => Ok(Palette::Rows(list("palette", matrices.cast(), count)?)),
            SKINBENCH_COLUMNS => Ok(Palette::Columns(list("palette", matrices.cast(), count)?)),
            other => Err(invalid(format!(
                "palette: form {other}; expected SKINBENCH_ROWS or SKINBENCH_COLUMNS"
            ))),
        }
    }
}

fn treatment(normals: u32) -> Result<Normals, Fault> {
    match normals {
        SKINBENCH_UNIT => Ok(Normals::Unit),
        SKINBENCH_RAW => Ok(Normals::Raw),
        SKINBENCH_EXACT => Ok(Normals::Exact),
        other => {
            let accepted = "SKINBENCH_UNIT, SKINBENCH_RAW or SKINBENCH_EXACT";
            Err(invalid(format!("normals: {other}; expected {accepted}")))
        }
    }
}
