//! Buffer views that meshoptimizer compressed.
use super::refusals::bytes_refused;
use super::traits::{load, notes};
use crate::support::gltf_fixture::*;
use crate::support::reference;
use meshoptimizer_rs::Workspace;
use meshoptimizer_rs::codec::{
    ExpMode, IndexEncoding, VertexEncoding, encode_filter_exp, encode_filter_quat,
    encode_index_buffer, encode_index_sequence, encode_vertex_buffer,
};
use serde_json::{Value, json};

const EXTENSIONS: [&str; 2] = ["EXT_meshopt_compression", "KHR_meshopt_compression"];

/// A stream of elements of `stride` bytes, of which there are `count`.
struct Stream {
    bytes: Vec<u8>,
    stride: usize,
    count: usize,
    mode: &'static str,
    filter: &'static str,
}

/// Words as vertices of four bytes.
fn attributes(words: &[u8], stride: usize, filter: &'static str) -> Stream {
    let count = words.len() / stride;
    let encoding = VertexEncoding::new(0, 0).unwrap();
    let bytes = encode_vertex_buffer(words, count, stride, encoding, &mut Workspace::default());
    Stream {
        bytes: bytes.unwrap(),
        stride,
        count,
        mode: "ATTRIBUTES",
        filter,
    }
}

/// 16-bit indices as a list or as triangles.
fn indices(words: &[u8], mode: &'static str) -> Stream {
    let encode = match mode {
        "TRIANGLES" => encode_index_buffer,
        _ => encode_index_sequence,
    };
    let (pairs, _) = words.as_chunks();
    let indices: Vec<u32> = pairs
        .iter()
        .map(|&pair| u16::from_le_bytes(pair).into())
        .collect();
    Stream {
        bytes: encode(&indices, IndexEncoding::DEFAULT, &mut Workspace::default()).unwrap(),
        stride: 2,
        count: indices.len(),
        mode,
        filter: "NONE",
    }
}

/// Compresses every buffer view as `stream` makes it from its index and bytes, and moves the views to a buffer without
/// bytes.
fn compress(fixture: &mut Fixture, extension: &str, stream: impl Fn(usize, &[u8]) -> Stream) {
    let plain = std::mem::take(&mut fixture.buffer);
    let views = fixture.json["bufferViews"].as_array_mut().unwrap();
    for (index, view) in views.iter_mut().enumerate() {
        let number = |name: &str| view[name].as_u64().unwrap() as usize;
        let bytes = &plain[number("byteOffset")..][..number("byteLength")];
        let stream = stream(index, bytes);
        view["buffer"] = json!(1);
        view["byteLength"] = json!(stream.count * stream.stride);
        view["extensions"] = json!({extension: {
            "buffer": 0,
            "byteOffset": fixture.buffer.len(),
            "byteLength": stream.bytes.len(),
            "byteStride": stream.stride,
            "count": stream.count,
            "mode": stream.mode,
            "filter": stream.filter,
        }});
        fixture.buffer.extend(stream.bytes);
    }
    fixture.set("/buffers/0/byteLength", json!(fixture.buffer.len()));
    fixture.push(
        "buffers",
        json!({"byteLength": plain.len(), "extensions": {extension: {"fallback": true}}}),
    );
    fixture.json["extensionsUsed"] = json!([extension]);
    fixture.json["extensionsRequired"] = json!([extension]);
}

/// The fixture, compressed without loss.
fn compressed(extension: &str, mode: &'static str) -> Fixture {
    let mut fixture = Fixture::new();
    compress(&mut fixture, extension, |index, bytes| match index {
        INDICES => indices(bytes, mode),
        _ => attributes(bytes, 4, "NONE"),
    });
    fixture
}

#[test]
fn compressed_views_hold_the_same_numbers() {
    let plain = load(&Fixture::new());
    for extension in EXTENSIONS {
        for mode in ["INDICES", "TRIANGLES"] {
            let model = load(&compressed(extension, mode));
            assert_eq!(model.mesh(), plain.mesh(), "{extension}, {mode}");
            assert_eq!(notes(&model), [""; 0]);
            let [a, b] = [&model, &plain].map(|model| reference::skin(model, Some((0, 1.1))));
            assert_eq!(a[0].positions, b[0].positions);
        }
    }
}

#[test]
fn filters_are_undone() {
    let floats = |bytes: &[u8]| -> Vec<f32> {
        let (words, _) = bytes.as_chunks();
        words.iter().map(|&word| f32::from_le_bytes(word)).collect()
    };
    let mut fixture = Fixture::new();
    compress(&mut fixture, EXTENSIONS[0], |index, bytes| match index {
        INDICES => indices(bytes, "TRIANGLES"),
        POSITION => {
            let mut workspace = Workspace::default();
            let values = floats(bytes);
            let words = encode_filter_exp(3, 12, 24, &values, ExpMode::Separate, &mut workspace);
            attributes(&words.unwrap(), 12, "EXPONENTIAL")
        }
        ROTATIONS => {
            let mut workspace = Workspace::default();
            let words = encode_filter_quat(2, 8, 16, &floats(bytes), &mut workspace);
            attributes(&words.unwrap(), 8, "QUATERNION")
        }
        _ => attributes(bytes, 4, "NONE"),
    });
    let accessor = &mut fixture.json["accessors"][ROTATIONS];
    accessor["componentType"] = json!(SHORT);
    accessor["normalized"] = json!(true);
    let [filtered, plain] = [&fixture, &Fixture::new()].map(load);
    assert_eq!(filtered.mesh().positions(), plain.mesh().positions());
    let [a, b] = [&filtered, &plain].map(|model| reference::skin(model, Some((0, 1.1))));
    for (a, b) in a[0].positions.iter().zip(&b[0].positions) {
        assert!((*a - *b).length() < 1e-3, "{a} {b}");
    }
}

fn refused(place: &str, problem: &str, edit: impl FnOnce(&mut Value)) {
    let mut fixture = compressed(EXTENSIONS[0], "TRIANGLES");
    edit(&mut fixture.json["bufferViews"][POSITION]["extensions"][EXTENSIONS[0]]);
    let error = bytes_refused("fixture.gltf", &fixture.gltf());
    assert_eq!(error.place, place, "{error}");
    assert!(error.problem.contains(problem), "{error}");
}

#[test]
fn damaged_streams_are_refused_with_their_place() {
    let view = "bufferViews[0].extensions.EXT_meshopt_compression";
    refused(view, "invalid encoded stream", |it| {
        it["byteLength"] = json!(7)
    });
    refused(view, "expected the buffer view's 36", |it| {
        it["count"] = json!(1u64 << 40)
    });
    refused(view, "expected them inside the buffer's", |it| {
        it["byteOffset"] = json!(u64::MAX)
    });
    refused(view, "invalid encoded stream", |it| {
        it["mode"] = json!("INDICES");
        it["byteStride"] = json!(4);
    });
    refused(&format!("{view}.buffer"), "9", |it| it["buffer"] = json!(9));
}

/// A few bytes may stand for many, which count as memory that the file asks for.
#[test]
fn the_size_of_decoded_views_is_limited() {
    let mut fixture = compressed(EXTENSIONS[0], "TRIANGLES");
    let view = &mut fixture.json["bufferViews"][POSITION];
    view["byteLength"] = json!(4u64 << 30);
    view["extensions"][EXTENSIONS[0]]["count"] = json!(1 << 30);
    let error = bytes_refused("fixture.gltf", &fixture.gltf());
    assert!(error.problem.contains("more memory"), "{error}");
}

#[test]
fn a_view_of_a_buffer_without_bytes_needs_a_stream() {
    let mut fixture = compressed(EXTENSIONS[1], "INDICES");
    fixture.remove("/bufferViews/0/extensions");
    let error = bytes_refused("fixture.gltf", &fixture.gltf());
    assert_eq!(error.place, "bufferViews[0]");
    assert!(error.problem.contains("inside the buffer's 0"), "{error}");
}
