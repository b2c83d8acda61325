//! Pictures: textures on surfaces, and tints. Timed frames have neither.

use crate::backends::common::{context, crowd, prepare};
use skinbench::asset::decode;
use skinbench::crowd::Crowd;
use skinbench::frame::{FrameInput, Mode, StageTimer, View};
use skinbench::gpu::draw::present::Presenter;
use skinbench::gpu::{ImageReader, Surfaces};
use skinbench::model::{
    Axes, Clip, IDENTITY_ROWS, Image, Influences, Joint, JointTransform, Material, Model,
    ModelParts, Notes, PrimitiveData, RotationBlend, Skeleton, SkinData, Subset, Texture,
    Transform, Wrap,
};
use skinbench::registry;
use std::io::Cursor;
use std::sync::Arc;

const READER: ImageReader = ImageReader {
    size: decode::size,
    pixels: decode::decode,
};

const SIZE: u32 = 64;
const RED: [u8; 4] = [255, 0, 0, 255];
const GREEN: [u8; 4] = [0, 255, 0, 255];
const BLUE: [u8; 4] = [0, 0, 255, 255];
const CLEAR: [u8; 4] = [255, 255, 255, 0];

/// Red and green above, blue and transparent below.
fn quarters() -> Image {
    encoded(|x, y| [[RED, GREEN], [BLUE, CLEAR]][usize::from(y >= 32)][usize::from(x >= 32)])
}

fn encoded(pixel: impl Fn(u32, u32) -> [u8; 4]) -> Image {
    let mut bytes = Vec::new();
    let image = image::RgbaImage::from_fn(64, 64, |x, y| image::Rgba(pixel(x, y)));
    image
        .write_to(&mut Cursor::new(&mut bytes), image::ImageFormat::Png)
        .unwrap();
    Image::Embedded(bytes.into())
}

fn texture(image: Image) -> Texture {
    Texture {
        image,
        wrap: [Wrap::Repeat; 2],
        transform: Texture::IDENTITY,
    }
}

/// A square that fills the picture; 0, 0 of its texture coordinates is in the upper left corner.
fn square(material: Material) -> Crowd {
    let joint = Joint {
        name: "root".into(),
        parent: None,
        rest: JointTransform::Transform(Transform::IDENTITY),
    };
    let (skeleton, _) = Skeleton::new(vec![joint]).unwrap();
    let mut influences = Influences::default();
    (0..4).for_each(|_| influences.push([(0, 1.0)]));
    let primitive = PrimitiveData {
        positions: vec![
            [-1.0, 1.0, 0.0],
            [1.0, 1.0, 0.0],
            [-1.0, -1.0, 0.0],
            [1.0, -1.0, 0.0],
        ],
        normals: Some(vec![[0.0, 0.0, 1.0]; 4]),
        uvs: Some(vec![[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]),
        influences,
        indices: vec![0, 2, 1, 1, 2, 3],
        subsets: vec![Subset {
            material: 0,
            indices: 0..6,
        }],
        dumped_vertices: 4,
        ..PrimitiveData::default()
    };
    let model = Model::new(ModelParts {
        name: "square".into(),
        axes: Axes::Y_UP,
        skeleton,
        skins: vec![SkinData {
            name: String::new(),
            joints: vec![0],
            inverse_binds: vec![IDENTITY_ROWS],
        }],
        clips: vec![Clip::new("still", Some(1.0), RotationBlend::Slerp, Vec::new()).unwrap()],
        primitives: vec![primitive],
        targets: Vec::new(),
        materials: vec![material],
        notes: Notes::default(),
    });
    crowd(vec![(model.unwrap(), 1)])
}

/// Straight on, with light from the side, so that a surface has 0.33 of its colour.
fn view() -> View {
    let view_projection = glam::Mat4::from_translation(glam::Vec3::new(0.0, 0.0, 0.5))
        * glam::Mat4::from_scale(glam::vec3(1.0, 1.0, -0.1));
    View {
        view_projection,
        light: glam::Vec3::X,
        width: SIZE,
        height: SIZE,
        mode: Mode::Skin,
    }
}

/// A picture of a crowd by a backend; nothing where there is no adapter. `tinted` is set for pictures, and unset for
/// timed frames.
fn drawn(crowd: &Crowd, name: &str, tinted: Option<bool>, view: View) -> Option<Vec<[u8; 4]>> {
    let context = context();
    let gpu = context.gpu.as_ref()?;
    let mut presenter = match tinted {
        None => Presenter::new(Arc::clone(gpu), crowd, view, 1).unwrap(),
        Some(tinted) => {
            let surfaces = Surfaces::new(gpu, crowd, READER);
            assert!(surfaces.notes.is_empty(), "{:?}", surfaces.notes);
            Presenter::for_pictures(Arc::clone(gpu), crowd, view, &surfaces, tinted).unwrap()
        }
    };
    let backend = registry::find(name).unwrap().create(&context).unwrap();
    let (mut backend, mut output) = prepare(&*backend, &context, crowd);
    let mut timer = StageTimer::default();
    let mut frame = FrameInput {
        crowd,
        tick: 0,
        output: &mut output,
    };
    let ticket = backend.submit(&mut frame, &mut timer).unwrap();
    ticket
        .draw(&mut presenter, &backend.skinned(), &frame, &mut timer)
        .unwrap()
        .finish()
        .unwrap();
    Some(presenter.read_color().unwrap().as_chunks::<4>().0.to_vec())
}

/// The pixels in the middle of the four quarters, from left to right and top to bottom.
fn quarters_of(pixels: &[[u8; 4]]) -> [[u8; 4]; 4] {
    [(16, 16), (48, 16), (16, 48), (48, 48)].map(|(x, y)| pixels[y * SIZE as usize + x])
}

fn square_drawn(material: Material) -> Option<[[u8; 4]; 4]> {
    drawn(&square(material), "cpu-scalar", Some(false), view()).map(|pixels| quarters_of(&pixels))
}

fn white(texture: Texture) -> Material {
    Material {
        base_color: [1.0; 4],
        texture: Some(texture),
        ..Material::default()
    }
}

/// Which of red, green and blue a pixel has.
fn channels(pixel: [u8; 4]) -> [bool; 3] {
    [pixel[0] > 20, pixel[1] > 20, pixel[2] > 20]
}

const R: [bool; 3] = [true, false, false];
const G: [bool; 3] = [false, true, false];
const B: [bool; 3] = [false, false, true];
const W: [bool; 3] = [true; 3];

#[test]
fn a_texture_is_the_right_way_up_whoever_skins() {
    let crowd = square(white(texture(quarters())));
    for backend in [
        "cpu-scalar",
        "cpu-rayon",
        "gpu-compute",
        "gpu-vertex",
        "gpu-full",
        "gpu-full:vertex-culled",
    ] {
        let Some(pixels) = drawn(&crowd, backend, Some(false), view()) else {
            return;
        };
        assert_eq!(
            quarters_of(&pixels).map(channels),
            [R, G, B, W],
            "{backend}"
        );
    }
}

#[test]
fn a_texture_is_multiplied_with_the_base_colour_in_linear_light() {
    // sRGB 188 is half of the light of white.
    let grey = texture(encoded(|_, _| [188, 188, 188, 255]));
    let Some(textured) = square_drawn(white(grey.clone())) else {
        return;
    };
    let plain = square_drawn(Material {
        base_color: [0.5, 0.5, 0.5, 1.0],
        ..Material::default()
    })
    .unwrap();
    assert!(
        textured[0]
            .iter()
            .zip(plain[0])
            .all(|(a, b)| a.abs_diff(b) <= 1),
        "{textured:?} {plain:?}"
    );
    let red = Material {
        base_color: [1.0, 0.0, 0.0, 1.0],
        ..white(grey)
    };
    assert_eq!(channels(square_drawn(red).unwrap()[0]), R);
}

#[test]
fn textures_wrap_as_the_material_says() {
    let with = |wrap, transform| {
        square_drawn(white(Texture {
            wrap,
            transform,
            ..texture(quarters())
        }))
    };
    // A whole image to the right or left.
    let shifted = |by: f32| [[1.0, 0.0, by], [0.0, 1.0, 0.0]];
    let Some(repeated) = with([Wrap::Repeat; 2], shifted(1.0)) else {
        return;
    };
    assert_eq!(repeated.map(channels), [R, G, B, W]);
    assert_eq!(
        with([Wrap::Mirror; 2], shifted(1.0)).unwrap().map(channels),
        [G, R, W, B]
    );
    assert_eq!(
        with([Wrap::Mirror; 2], shifted(-1.0))
            .unwrap()
            .map(channels),
        [G, R, W, B]
    );
    assert_eq!(
        with([Wrap::Clamp; 2], shifted(1.0)).unwrap().map(channels),
        [G, G, W, W]
    );
    assert_eq!(
        with([Wrap::Clamp; 2], shifted(-1.0)).unwrap().map(channels),
        [R, R, B, B]
    );
    assert_eq!(
        with([Wrap::Repeat; 2], Texture::FROM_BELOW)
            .unwrap()
            .map(channels),
        [B, W, R, G]
    );
}

#[test]
fn what_is_transparent_is_left_out_where_the_material_says_so() {
    let cut = Material {
        alpha_cutoff: Some(0.5),
        ..white(texture(quarters()))
    };
    let Some(pixels) = square_drawn(cut) else {
        return;
    };
    let sky =
        [0.55f32, 0.65, 0.75].map(|v| ((1.055 * v.powf(1.0 / 2.4) - 0.055) * 255.0).round() as u8);
    assert_eq!(
        pixels[..3].iter().map(|p| channels(*p)).collect::<Vec<_>>(),
        [R, G, B]
    );
    assert!(
        pixels[3].iter().zip(sky).all(|(a, b)| a.abs_diff(b) <= 1),
        "{:?} {sky:?}",
        pixels[3]
    );
}

#[test]
fn timed_frames_draw_neither_textures_nor_tints() {
    let textured = square(white(texture(quarters())));
    let plain = square(Material {
        base_color: [1.0; 4],
        ..Material::default()
    });
    let Some(timed) = drawn(&textured, "cpu-scalar", None, view()) else {
        return;
    };
    assert_eq!(Some(timed), drawn(&plain, "cpu-scalar", None, view()));
    let tinted = drawn(&plain, "cpu-scalar", Some(true), view());
    assert_ne!(tinted, drawn(&plain, "cpu-scalar", Some(false), view()));
}

#[test]
fn a_texture_that_cannot_be_decoded_is_noted_and_its_surface_is_plain() {
    let context = context();
    let Some(gpu) = &context.gpu else { return };
    let broken = Image::Embedded(b"\x89PNG\r\n\x1a\n and no more".as_slice().into());
    let red = Material {
        base_color: [1.0, 0.0, 0.0, 1.0],
        ..white(texture(broken))
    };
    let crowd = square(red);
    let surfaces = Surfaces::new(gpu, &crowd, READER);
    assert!(
        matches!(&surfaces.notes[..], [note] if note.starts_with("square: a texture is left out: "))
    );
    let mut presenter =
        Presenter::for_pictures(Arc::clone(gpu), &crowd, view(), &surfaces, false).unwrap();
    let backend = registry::find("cpu-scalar")
        .unwrap()
        .create(&context)
        .unwrap();
    let (mut backend, mut output) = prepare(&*backend, &context, &crowd);
    let mut timer = StageTimer::default();
    let mut frame = FrameInput {
        crowd: &crowd,
        tick: 0,
        output: &mut output,
    };
    let ticket = backend.submit(&mut frame, &mut timer).unwrap();
    ticket
        .draw(&mut presenter, &backend.skinned(), &frame, &mut timer)
        .unwrap()
        .finish()
        .unwrap();
    let pixels = presenter.read_color().unwrap();
    assert_eq!(quarters_of(pixels.as_chunks::<4>().0).map(channels), [R; 4]);
}
