//! Palettes of several instances in one list: a length that leaves a part over is refused.

use skinbench_kernels::device_palette::{DeviceForm, convert};
use skinbench_kernels::model::{
    IDENTITY_ROWS, Influences, Model, ModelParts, PrimitiveData, SkeletonBuilder, SkinData,
};
use skinbench_kernels::pose::BlockPalettes;
use skinbench_kernels::simd::Isa;
use skinbench_kernels::vertex::VertexFormat;
use skinbench_kernels::vertex_frames::VertexFrames;

#[test]
#[should_panic(expected = "3 matrices; expected whole palettes of 2")]
fn baked_frames_have_whole_palettes() {
    let mut builder = SkeletonBuilder::new();
    builder.joint("foot", None, glam::Vec3::ZERO);
    builder.joint("top", Some("foot"), glam::Vec3::Y);
    let mast = builder.build().unwrap();
    let mut influences = Influences::default();
    (0..3).for_each(|vertex| influences.push([(vertex / 2, 1.0)]));
    let triangle = PrimitiveData {
        positions: vec![[0.0; 3]; 3],
        influences,
        indices: vec![0, 1, 2],
        ..PrimitiveData::default()
    };
    let skin = SkinData::at_rest(&mast, vec![0, 1]).unwrap();
    let parts = ModelParts::new("mast", mast, skin, vec![triangle]);
    let model = Model::new(parts).unwrap();
    VertexFrames::new(
        model.mesh(),
        VertexFormat::default(),
        2,
        &[IDENTITY_ROWS; 3],
    );
}

#[test]
#[should_panic(expected = "3 matrices; expected as many for each of 2 instances")]
fn instances_have_equally_many_matrices() {
    let palettes = BlockPalettes::Rows(&[IDENTITY_ROWS; 3]);
    convert(
        Isa::strongest(),
        DeviceForm::Columns,
        palettes,
        &[],
        2,
        &mut [0.0; 64],
    );
}
