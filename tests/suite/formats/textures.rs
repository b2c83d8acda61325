//! Base-colour textures: where they are found, what is left out with a note, and what decoding refuses.
use crate::support::gltf_fixture::{FLOAT, Fixture, UNSIGNED_BYTE};
use crate::support::sprout::Sprout;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde_json::{Value, json};
use skinbench::asset::{self, glb};
use skinbench::model::{Image, Model, Texture, Wrap};
use skinbench::reference::nan_max;
use std::fs;
use std::path::Path;

/// The beginning of any PNG file, which is all that importers look at.
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n and more";

/// A triangle with texture coordinates whose material shows image 0.
fn textured(image: Value) -> Fixture {
    let mut fixture = Fixture::new();
    let uvs: Vec<u8> = [0.0f32, 0.0, 1.0, 0.0, 0.0, 1.0]
        .iter()
        .flat_map(|v| v.to_le_bytes())
        .collect();
    let uvs = fixture.accessor(FLOAT, "VEC2", 3, &uvs);
    fixture.set("/meshes/0/primitives/0/attributes/TEXCOORD_0", json!(uvs));
    fixture.set("/meshes/0/primitives/0/material", json!(0));
    fixture.push(
        "materials",
        json!({"name": "skin", "pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}),
    );
    fixture.push("textures", json!({"source": 0}));
    fixture.push("images", image);
    fixture
}

fn load(fixture: &Fixture, folder: &Path) -> Model {
    asset::load(fixture.write(folder)).unwrap_or_else(|error| panic!("{error}"))
}

fn texture(model: &Model) -> Option<&Texture> {
    model.materials()[0].texture.as_ref()
}

fn notes(model: &Model) -> Vec<String> {
    model.notes().lines().collect()
}

#[test]
fn gltf_images_are_found_in_buffers_in_data_uris_and_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut embedded = textured(json!({"mimeType": "image/png"}));
    let view = embedded.view(PNG);
    embedded.set("/images/0/bufferView", json!(view));
    let encoded = format!("data:image/png;base64,{}", BASE64_STANDARD.encode(PNG));
    for fixture in [embedded, textured(json!({"uri": encoded}))] {
        let model = load(&fixture, folder.path());
        assert_eq!(
            texture(&model).map(|t| t.image.clone()),
            Some(Image::Embedded(PNG.into())),
            "{:?}",
            notes(&model)
        );
        assert!(notes(&model).is_empty());
    }
    fs::write(folder.path().join("a skin.png"), PNG).unwrap();
    let model = load(&textured(json!({"uri": "a%20skin.png"})), folder.path());
    let path = folder.path().canonicalize().unwrap().join("a skin.png");
    assert_eq!(
        texture(&model).map(|t| t.image.clone()),
        Some(Image::File(path))
    );
}

#[test]
fn gltf_wrapping_transforms_and_cutoffs_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("skin.jpg"), b"\xff\xd8\xff\xe0").unwrap();
    let mut fixture = textured(json!({"uri": "skin.jpg"}));
    fixture.push("samplers", json!({"wrapS": 33648, "wrapT": 33071}));
    fixture.set("/textures/0/sampler", json!(0));
    let info = "/materials/0/pbrMetallicRoughness/baseColorTexture";
    let transform = json!({"offset": [0.5, 0.25], "scale": [2.0, 4.0], "rotation": std::f32::consts::FRAC_PI_2});
    fixture.set(
        &format!("{info}/extensions"),
        json!({"KHR_texture_transform": transform}),
    );
    fixture.set("/materials/0/alphaMode", json!("MASK"));
    let model = load(&fixture, folder.path());
    assert_eq!(
        model.materials()[0].alpha_cutoff,
        Some(0.5),
        "the specification's default"
    );
    let texture = texture(&model).unwrap();
    assert_eq!(texture.wrap, [Wrap::Mirror, Wrap::Clamp]);
    // The u axis of the coordinates points up in the image, the v axis to the right.
    let expected = [[0.0, 4.0, 0.5], [-2.0, 0.0, 0.25]];
    let off = texture
        .transform
        .as_flattened()
        .iter()
        .zip(expected.as_flattened())
        .map(|(a, b)| f64::from((a - b).abs()));
    assert!(off.fold(0.0, nan_max) < 1e-6, "{:?}", texture.transform);
}

/// Colours are bytes or floats, with alpha or without.
#[test]
fn gltf_colours_of_vertices_are_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut fixture = Fixture::new();
    let colors = [255, 0, 0, 0, 255, 0, 0, 0, 51];
    let colors = fixture.accessor(UNSIGNED_BYTE, "VEC3", 3, &colors);
    fixture.set(&format!("/accessors/{colors}/normalized"), json!(true));
    fixture.set("/meshes/0/primitives/0/attributes/COLOR_0", json!(colors));
    let model = load(&fixture, folder.path());
    let written = folder.path().join("written.glb");
    fs::write(&written, glb::to_glb(&model).unwrap()).unwrap();
    for model in [model, asset::load(written).unwrap()] {
        let colors = model.mesh().colors().unwrap();
        for (source, color) in model.mesh().sources().iter().zip(colors) {
            let mut expected = [0.0, 0.0, 0.0, 1.0];
            expected[source.vertex as usize] = [1.0, 1.0, 0.2][source.vertex as usize];
            assert_eq!(*color, expected);
        }
        assert!(notes(&model).is_empty());
    }
}

#[test]
fn a_texture_that_cannot_be_used_leaves_the_plain_colour_and_one_note() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("skin.dds"), b"DDS and more").unwrap();
    fs::write(folder.path().join("skin.png"), PNG).unwrap();
    let outside = tempfile::NamedTempFile::new().unwrap();
    let with = |pointer: &str, value: Value| {
        let mut fixture = textured(json!({"uri": "skin.png"}));
        fixture.set(pointer, value);
        fixture
    };
    let info = "/materials/0/pbrMetallicRoughness/baseColorTexture";
    let cases = [
        (
            textured(json!({"uri": "gone.png"})),
            "images[0]: \"gone.png\" cannot be read",
        ),
        (
            textured(json!({"uri": "skin.dds"})),
            "images[0]: \"skin.dds\" is neither PNG nor JPEG",
        ),
        (textured(json!({"uri": "../skin.png"})), "climbs out of it"),
        (
            textured(json!({"uri": outside.path().to_str().unwrap()})),
            "is absolute",
        ),
        (
            textured(json!({"uri": "https://example.org/skin.png"})),
            "has the scheme or drive \"https\"",
        ),
        (
            textured(json!({"uri": "data:image/png;base64,@@"})),
            "not base64",
        ),
        (
            textured(json!({"bufferView": 99})),
            "buffer view 99 is out of range",
        ),
        (textured(json!({})), "neither uri nor bufferView"),
        (
            with(&format!("{info}/index"), json!(7)),
            "texture 7 is out of range; there are 1",
        ),
        (
            with(&format!("{info}/texCoord"), json!(1)),
            "texture coordinates 1; only TEXCOORD_0 is read",
        ),
        (
            with("/textures/0", json!({})),
            "textures[0] has no PNG or JPEG image",
        ),
        (
            with("/textures/0/sampler", json!(3)),
            "sampler 3 is out of range; there are 0",
        ),
    ];
    for (fixture, expected) in cases {
        let model = load(&fixture, folder.path());
        assert_eq!(texture(&model), None, "{expected}");
        let notes = notes(&model);
        assert!(
            notes.len() == 1 && notes[0].starts_with("left out textures of materials: "),
            "{notes:?}"
        );
        assert!(notes[0].contains(expected), "{notes:?} for {expected}");
    }
    // Materials that share a problem share the note; those that nothing uses are not looked at.
    let mut fixture = textured(json!({"uri": "gone.png"}));
    let material = fixture.json["materials"][0].clone();
    for _ in 0..3 {
        fixture.push("materials", material.clone());
    }
    let primitive = fixture.json["meshes"][0]["primitives"][0].clone();
    fixture.json["meshes"][0]["primitives"]
        .as_array_mut()
        .unwrap()
        .push(primitive);
    fixture.set("/meshes/0/primitives/1/material", json!(2));
    let model = load(&fixture, folder.path());
    assert!(
        notes(&model)[1].ends_with(" (2 times)"),
        "{:?}",
        notes(&model)
    );
}

#[test]
fn notes_about_textures_do_not_grow_with_the_number_of_materials() {
    let mut json: serde_json::Value = serde_json::from_str(&Sprout::new().three_json()).unwrap();
    let materials = (0..1_000).map(|number| json!({"mapDiffuse": format!("{number}.png")}));
    json["materials"] = materials.collect();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.js");
    fs::write(&file, json.to_string()).unwrap();
    let notes = notes(&asset::load(file).unwrap());
    assert_eq!(notes.len(), 1);
    assert!(notes[0].ends_with(" and 992 more"), "{notes:?}");
}

#[test]
fn three_js_and_ogre_materials_name_images_beside_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: &[u8]| fs::write(folder.path().join(name), bytes).unwrap();
    write("leaf.png", PNG);
    let path = folder.path().canonicalize().unwrap().join("leaf.png");
    let sprout = Sprout::new();

    let mut json: Value = serde_json::from_str(&sprout.three_json()).unwrap();
    let used = json["materials"].as_array().map_or(0, Vec::len);
    assert!(used > 0, "the sample has materials");
    json["materials"][0]["mapDiffuse"] = json!("leaf.png");
    json["materials"][0]["mapDiffuseWrap"] = json!(["repeat", "mirror"]);
    write("a.js", json.to_string().as_bytes());
    let model = asset::load(folder.path().join("a.js")).unwrap();
    let expected = |wrap, transform| {
        Some(Texture {
            image: Image::File(path.clone()),
            wrap,
            transform,
        })
    };
    let found = model.materials()[0].texture.clone();
    assert_eq!(
        found,
        expected([Wrap::Repeat, Wrap::Mirror], Texture::FROM_BELOW)
    );

    write("a.mesh.xml", sprout.mesh_xml().as_bytes());
    for name in ["sprout.skeleton.xml", "a.skeleton.xml"] {
        write(name, sprout.skeleton_xml().as_bytes());
    }
    let plain = asset::load(folder.path().join("a.mesh.xml")).unwrap();
    assert!(
        plain
            .materials()
            .iter()
            .all(|material| material.texture.is_none())
    );
    let name = &plain.materials()[0].name;
    let script = |image: &str| {
        format!(
            "material {name}\n{{ technique\n {{ pass\n {{\n texture_unit\n {{\n texture {image}\n }} }} }} }}"
        )
    };
    write("a.material", script("leaf.png").as_bytes());
    let model = asset::load(folder.path().join("a.mesh.xml")).unwrap();
    assert_eq!(
        model.materials()[0].texture,
        expected([Wrap::Repeat; 2], Texture::IDENTITY)
    );
    assert_eq!(model.materials()[0].base_color, [1.0; 4]);
    write("a.material", script("gone.png").as_bytes());
    let model = asset::load(folder.path().join("a.mesh.xml")).unwrap();
    assert_eq!(
        (
            model.materials()[0].texture.clone(),
            model.materials()[0].base_color
        ),
        (None, [0.8, 0.8, 0.8, 1.0])
    );
    assert!(notes(&model)[0].contains("gone.png"), "{:?}", notes(&model));
    write("a.material", &[b' '; (1 << 20) + 1]);
    let model = asset::load(folder.path().join("a.mesh.xml")).unwrap();
    assert_eq!(
        notes(&model),
        [
            "left out the textures of all materials: \"a.material\" cannot be read: larger than the 1048576 bytes that are accepted"
        ]
    );
}

#[test]
fn exports_keep_textures() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("skin.png"), PNG).unwrap();
    let mut fixture = textured(json!({"uri": "skin.png"}));
    fixture.push("samplers", json!({"wrapS": 33071}));
    fixture.set("/textures/0/sampler", json!(0));
    let info = "/materials/0/pbrMetallicRoughness/baseColorTexture";
    let transform = json!({"offset": [0.5, 0.25], "scale": [2.0, -4.0], "rotation": 0.3});
    fixture.set(
        &format!("{info}/extensions"),
        json!({"KHR_texture_transform": transform}),
    );
    fixture.set("/materials/0/alphaMode", json!("MASK"));
    fixture.set("/materials/0/alphaCutoff", json!(0.25));
    let model = load(&fixture, folder.path());
    let file = folder.path().join("copy.glb");
    std::fs::write(&file, glb::to_glb(&model).unwrap()).unwrap();
    fs::remove_file(folder.path().join("skin.png")).unwrap();
    let copy = asset::load(&file).unwrap();
    let (original, texture) = (texture(&model).unwrap(), texture(&copy).unwrap());
    assert_eq!(
        texture.image,
        Image::Embedded(PNG.into()),
        "the copy needs no other file"
    );
    assert_eq!(texture.wrap, original.wrap);
    let off = texture
        .transform
        .as_flattened()
        .iter()
        .zip(original.transform.as_flattened());
    assert!(
        off.map(|(a, b)| f64::from((a - b).abs()))
            .fold(0.0, nan_max)
            < 1e-5,
        "{:?}",
        texture.transform
    );
    assert_eq!(copy.materials()[0].alpha_cutoff, Some(0.25));
}

#[cfg(feature = "textures")]
mod decoding {
    use super::*;
    use image::{ExtendedColorType, ImageEncoder, ImageFormat};
    use skinbench::asset::decode::{decode, size};
    use skinbench::model::Pixels;
    use std::io::Cursor;

    fn png(size: [u32; 2], pixels: &[u8], color: ExtendedColorType) -> Vec<u8> {
        let mut bytes = Vec::new();
        image::codecs::png::PngEncoder::new(&mut bytes)
            .write_image(pixels, size[0], size[1], color)
            .unwrap();
        bytes
    }

    #[test]
    fn png_and_jpeg_become_rgba() {
        let rgb = png([2, 1], &[255, 0, 0, 0, 0, 255], ExtendedColorType::Rgb8);
        let expected = Pixels {
            size: [2, 1],
            rgba: vec![255, 0, 0, 255, 0, 0, 255, 255],
        };
        assert_eq!(decode(&Image::Embedded(rgb.into())), Ok(expected));
        let grey = png([1, 1], &[7], ExtendedColorType::L8);
        assert_eq!(
            decode(&Image::Embedded(grey.into())).unwrap().rgba,
            [7, 7, 7, 255]
        );
        let mut jpeg = Vec::new();
        let red = image::RgbImage::from_pixel(16, 8, image::Rgb([200, 30, 30]));
        red.write_to(&mut Cursor::new(&mut jpeg), ImageFormat::Jpeg)
            .unwrap();
        let decoded = decode(&Image::Embedded(jpeg.into())).unwrap();
        assert_eq!(decoded.size, [16, 8]);
        let close = |texel: &[u8]| {
            texel
                .iter()
                .zip([200, 30, 30, 255])
                .all(|(a, b)| a.abs_diff(b) < 8)
        };
        assert!(decoded.rgba.chunks(4).all(close));
    }

    #[test]
    fn sizes_are_checked_before_pixels_are_decoded() {
        // A header that promises more than any machine has, with a checksum that fits it.
        let promising = |width: u32, height: u32| {
            let mut bytes = png([1, 1], &[0; 8], ExtendedColorType::Rgba16);
            bytes[16..20].copy_from_slice(&width.to_be_bytes());
            bytes[20..24].copy_from_slice(&height.to_be_bytes());
            let crc = crc32(&bytes[12..29]);
            bytes[29..33].copy_from_slice(&crc.to_be_bytes());
            Image::Embedded(bytes.into())
        };
        for (width, height) in [
            (0x7fff_ffff, 0x7fff_ffff),
            (8193, 1),
            (1, 8193),
            (8192, 8192),
        ] {
            let image = promising(width, height);
            for problem in [size(&image).unwrap_err(), decode(&image).unwrap_err()] {
                assert!(
                    problem.starts_with("embedded image: ") && !problem.contains('\n'),
                    "{problem}"
                );
            }
        }
        assert_eq!(
            size(&promising(8192, 4096)),
            Ok([8192, 4096]),
            "the largest that is accepted"
        );
        assert!(
            decode(&promising(64, 64)).is_err(),
            "the pixels are missing"
        );
        let cut = png([64, 64], &[9; 64 * 64 * 4], ExtendedColorType::Rgba8);
        assert!(decode(&Image::Embedded(cut[..cut.len() / 2].into())).is_err());
        assert!(
            decode(&Image::File("/no/such/file.png".into()))
                .unwrap_err()
                .contains("/no/such/file.png")
        );
    }

    /// CRC-32 of PNG chunks (ISO 3309).
    fn crc32(bytes: &[u8]) -> u32 {
        !bytes.iter().fold(!0, |crc, &byte| {
            (0..8).fold(crc ^ u32::from(byte), |crc, _| {
                (crc >> 1) ^ if crc & 1 == 1 { 0xedb8_8320 } else { 0 }
            })
        })
    }

    #[cfg(feature = "cli")]
    #[test]
    fn inspect_lists_textures_and_those_that_are_damaged() {
        use skinbench::report::inspection::Inspection;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("skin.png");
        fs::write(&file, png([2, 1], &[0; 8], ExtendedColorType::Rgba8)).unwrap();
        let fixture = textured(json!({"uri": "skin.png"}));
        let inspected = || {
            let model = load(&fixture, folder.path());
            Inspection::new(model, std::time::Duration::ZERO).to_string()
        };
        let text = inspected();
        assert!(
            text.contains("texture     \"skin\", 2 x 1 pixels\n"),
            "{text}"
        );
        fs::write(&file, PNG).unwrap();
        let text = inspected();
        assert!(
            text.contains("texture     \"skin\", drawn in its plain colour: ")
                && text.contains("skin.png: "),
            "{text}"
        );
    }
}
