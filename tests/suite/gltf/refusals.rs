//! What is refused, by which place and with which words.
use crate::support::gltf_fixture::*;
use serde_json::json;
use skinbench::asset;
use skinbench::error::DataError;
use std::fs;
use std::path::Path;

fn refusal(file: &Path) -> DataError {
    let error = asset::load(file)
        .err()
        .unwrap_or_else(|| panic!("{} was accepted", file.display()));
    assert!(
        error.to_string().starts_with(&file.display().to_string()),
        "{error}"
    );
    error
}

pub(super) fn bytes_refused(name: &str, bytes: &[u8]) -> DataError {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join(name);
    fs::write(&file, bytes).unwrap();
    refusal(&file)
}

/// Applies an edit to the fixture and checks where and why the result is refused.
fn refused(place: &str, problem: &str, edit: impl FnOnce(&mut Fixture)) {
    let mut fixture = Fixture::new();
    edit(&mut fixture);
    let error = bytes_refused("fixture.gltf", &fixture.gltf());
    assert_eq!(error.place, place, "{error}");
    assert!(
        error.problem.contains(problem),
        "{error}\nexpected: {problem}"
    );
}

#[test]
fn versions_and_extensions() {
    refused("asset.version", "\"1.0\"; expected \"2.0\"", |f| {
        f.set("/asset/version", json!("1.0"))
    });
    refused("asset.minVersion", "\"2.1\"", |f| {
        f.set("/asset/minVersion", json!("2.1"))
    });
    for name in [
        "KHR_draco_mesh_compression",
        "KHR_animation_pointer",
        "ACME_wobble",
    ] {
        refused("extensionsRequired[1]", name, |f| {
            f.set(
                "/extensionsRequired",
                json!(["KHR_mesh_quantization", name]),
            );
        });
    }
}

#[test]
fn files_without_a_skinned_mesh() {
    refused(
        "nodes",
        "no skin and no morph target; expected at least one mesh with either",
        |f| f.remove("/nodes/2/skin"),
    );
    refused(
        "nodes",
        "no skin and no morph target in the default scene, and 1 meshes with either elsewhere; expected",
        |f| f.set("/scenes", json!([{"nodes": [0]}, {"nodes": [2]}])),
    );
    refused("skins[0].joints", "none; expected at least one", |f| {
        f.set("/skins/0/joints", json!([]))
    });
    refused("meshes[0].primitives", "none", |f| {
        f.set("/meshes/0/primitives", json!([]))
    });
}

#[test]
fn json() {
    let error = bytes_refused(
        "a.gltf",
        b"{\"asset\": {\"version\": \"2.0\"},\n \"nodes\": [{\"mesh\": -1}]}",
    );
    assert_eq!(error.place, "line 2 column 22");
    assert!(
        error
            .problem
            .contains("invalid value: integer `-1`, expected u32"),
        "{error}"
    );
    let error = bytes_refused(
        "a.gltf",
        b"{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"mesh\": 4294967296}]}",
    );
    assert!(
        error.problem.contains("`4294967296`, expected u32"),
        "{error}"
    );
    assert_eq!(bytes_refused("a.gltf", b"").place, "byte 0");
    assert!(
        bytes_refused("a.gltf", b"{}")
            .problem
            .contains("missing field `asset`")
    );
    let error = bytes_refused(
        "a.gltf",
        b"{\"asset\": {\"version\": \"2.0\"}, \"nodes\": [{\"scale\": [1e999, 1, 1]}]}",
    );
    assert!(error.problem.contains("number out of range"), "{error}");
}

#[test]
fn containers() {
    let whole = Fixture::new().glb();
    let refused = |bytes: &[u8], place: &str, problem: &str| {
        let error = bytes_refused("a.glb", bytes);
        assert_eq!(error.place, place, "{error}");
        assert!(error.problem.contains(problem), "{error}");
    };
    let patched = |offset: usize, value: u32| {
        let mut bytes = whole.clone();
        bytes[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
        bytes
    };
    refused(&whole[..6], "byte 4", "the file ends here");
    refused(
        &whole[..whole.len() / 2],
        "byte 8",
        "bytes; expected 12 to the file's",
    );
    refused(&patched(4, 1), "byte 4", "container version 1; expected 2");
    refused(&patched(8, 3), "byte 8", "a length of 3 bytes");
    refused(&patched(8, 14), "byte 12", "a chunk of");
    refused(
        &patched(12, u32::MAX),
        "byte 12",
        "a chunk of 4294967295 bytes",
    );
    refused(&patched(16, 0), "byte 12", "no JSON chunk");
    refused(
        &glb(&[(b"JSON", b"[]  ")]),
        "JSON chunk, line 1 column 2",
        "invalid length 0",
    );
    let json = Fixture::new().json.to_string() + "   ";
    let json = &json.as_bytes()[..json.len() / 4 * 4];
    refused(&glb(&[(b"JSON", json)]), "buffers[0]", "no uri");
    refused(
        &glb(&[(b"JSON", json), (b"BIN\0", &[0; 8])]),
        "buffers[0]",
        "8 bytes; expected at least byteLength",
    );
}

#[test]
fn uris() {
    let refused = |uri: &str, problem: &str| {
        let folder = tempfile::tempdir().unwrap();
        let inner = folder.path().join("model");
        fs::create_dir(&inner).unwrap();
        let mut fixture = Fixture::new();
        fs::write(folder.path().join("outside.bin"), &fixture.buffer).unwrap();
        fs::write(inner.join("short.bin"), [0; 8]).unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(folder.path().join("outside.bin"), inner.join("link.bin"))
            .unwrap();
        fixture.set("/buffers/0/uri", json!(uri));
        let error = refusal(&fixture.write(&inner));
        assert_eq!(error.place, "buffers[0].uri", "{error}");
        assert!(
            error.problem.contains(problem),
            "{error}\nexpected: {problem}"
        );
    };
    refused("../outside.bin", "climbs out of it by \"..\"");
    refused("%2E%2e/outside.bin", "climbs out of it");
    refused("a/../../outside.bin", "climbs out of it");
    refused("..\\outside.bin", "has a backslash");
    refused("/etc/passwd", "is absolute");
    refused("C:/outside.bin", "has the scheme or drive \"C\"");
    refused(
        "http://example.org/a.bin",
        "has the scheme or drive \"http\"",
    );
    refused("file:///etc/passwd", "has the scheme or drive \"file\"");
    refused("missing.bin", "\"missing.bin\" cannot be read");
    refused(".", "is no regular file");
    refused(
        "short.bin",
        "\"short.bin\" has 8 bytes; expected byteLength",
    );
    refused("%ff.bin", "does not decode to UTF-8");
    refused("data:text/plain,hello", "a data URI without ;base64");
    refused("data:;base64,????", "not base64");
    #[cfg(unix)]
    refused("link.bin", "is a link that leads out of it");
    self::refused("buffers[0]", "3 bytes; expected at least byteLength", |f| {
        f.set("/buffers/0/uri", json!("data:;base64,AAAA"));
    });
}

#[test]
fn buffer_views() {
    refused(
        "bufferViews[0].buffer",
        "buffer 1 is out of range; there are 1",
        |f| f.set("/bufferViews/0/buffer", json!(1)),
    );
    refused(
        "bufferViews[0]",
        "36 bytes from 4000; expected them inside the buffer's",
        |f| {
            f.set("/bufferViews/0/byteOffset", json!(4000));
        },
    );
    refused("bufferViews[0]", "18446744073709551615 bytes from 0", |f| {
        f.set("/bufferViews/0/byteLength", json!(u64::MAX))
    });
    refused("bufferViews[0]", "bytes from 18446744073709551615", |f| {
        f.set("/bufferViews/0/byteOffset", json!(u64::MAX))
    });
    refused(
        "bufferViews[0].byteStride",
        "4; expected at least the element's 12 bytes",
        |f| {
            f.set("/bufferViews/0/byteStride", json!(4));
        },
    );
}

#[test]
fn accessors() {
    let overrun = "expected them inside the 36 bytes of bufferViews[0]";
    refused("accessors[0]", overrun, |f| {
        f.set("/accessors/0/count", json!(4))
    });
    refused("accessors[0]", overrun, |f| {
        f.set("/accessors/0/count", json!(u64::MAX))
    });
    refused("accessors[0]", overrun, |f| {
        f.set("/accessors/0/byteOffset", json!(4))
    });
    refused("accessors[0]", overrun, |f| {
        f.set("/accessors/0/byteOffset", json!(u64::MAX))
    });
    refused("accessors[0]", overrun, |f| {
        f.set("/bufferViews/0/byteStride", json!(u64::MAX))
    });
    refused("accessors[0].count", "0; expected at least 1", |f| {
        f.set("/accessors/0/count", json!(0))
    });
    refused(
        "accessors[0].componentType",
        "5124; expected 5120 (i8)",
        |f| f.set("/accessors/0/componentType", json!(5124)),
    );
    refused(
        "accessors[0].type",
        "\"VEC2\"; expected \"VEC3\" for meshes[0].primitives[0].attributes.POSITION",
        |f| {
            f.set("/accessors/0/type", json!("VEC2"));
        },
    );
    refused("accessors[0]", "buffer view 99 is out of range", |f| {
        f.set("/accessors/0/bufferView", json!(99))
    });
    refused(
        "accessors[0]",
        "element 1 holds NaN; expected finite numbers for meshes[0].primitives[0].attributes.POSITION",
        |f| {
            f.buffer[16..20].copy_from_slice(&f32::NAN.to_le_bytes());
        },
    );
    refused(
        "accessors[0].count",
        "would need more memory than 20 times the file's size and 64 MiB",
        |f| {
            f.remove("/accessors/0/bufferView");
            f.set("/accessors/0/count", json!(1u64 << 40));
        },
    );
    for (accessor, place) in [(POSITION, "attributes.POSITION"), (INDICES, "indices")] {
        refused(
            &format!("meshes[0].primitives[0].{place}"),
            "has neither bufferView nor sparse; expected either",
            |f| f.remove(&format!("/accessors/{accessor}/bufferView")),
        );
    }
    refused(
        "primitive 0",
        "the position of vertex 1 holds 2e18; expected numbers of at most 1e18",
        |f| f.buffer[12..16].copy_from_slice(&2e18f32.to_le_bytes()),
    );
    refused(
        "animations[0], clip \"bend\", track 0 (Translation of joint 1)",
        "key 1 holds -2e18; expected numbers",
        |f| {
            let values = f.floats("VEC3", &[0.0, 0.0, 0.0, 0.0, -2e18, 0.0]);
            f.set("/animations/0/channels/0/target/path", json!("translation"));
            f.set("/animations/0/samplers/0/output", json!(values));
        },
    );
}

#[test]
fn sparse_accessors() {
    let sparse = |indices: &'static [u8], edit: fn(&mut Fixture)| {
        move |f: &mut Fixture| {
            let view = f.view(indices);
            let sparse = json!({
                "count": indices.len(),
                "indices": {"bufferView": view, "componentType": UNSIGNED_BYTE},
                "values": {"bufferView": 0},
            });
            f.set("/accessors/0/sparse", sparse);
            edit(f);
        }
    };
    refused(
        "accessors[0].sparse.indices",
        "index 3 at 1 is out of range; the accessor has 3",
        sparse(&[0, 3], |_| ()),
    );
    refused(
        "accessors[0].sparse.indices",
        "index 1 after 2; expected strictly rising",
        sparse(&[0, 2, 1], |_| ()),
    );
    refused(
        "accessors[0].sparse.count",
        "4; expected 1 to the accessor's count",
        sparse(&[0, 1, 2, 3], |_| ()),
    );
    refused(
        "accessors[0].sparse.values",
        "buffer view 99 is out of range",
        sparse(&[0], |f| {
            f.set("/accessors/0/sparse/values/bufferView", json!(99));
        }),
    );
    refused(
        "accessors[0].sparse.indices",
        "2 elements of 1 bytes every 1 from 0",
        sparse(&[0], |f| {
            f.set("/accessors/0/sparse/count", json!(2));
        }),
    );
    refused(
        "accessors[0].sparse.indices.componentType",
        "F32; expected U8, U16 or U32",
        sparse(&[0, 0, 0, 0], |f| {
            f.set("/accessors/0/sparse/count", json!(1));
            f.set("/accessors/0/sparse/indices/componentType", json!(FLOAT));
        }),
    );
}

#[test]
fn node_trees() {
    refused(
        "nodes[0].children[0]",
        "node 77 is out of range; there are 3",
        |f| f.set("/nodes/0/children", json!([77])),
    );
    refused(
        "nodes[2].children[0]",
        "nodes[1] is a child of nodes[0] already",
        |f| f.set("/nodes/2/children", json!([1])),
    );
    refused(
        "nodes[0].children[1]",
        "nodes[1] is a child of nodes[0] already",
        |f| f.set("/nodes/0/children", json!([1, 1])),
    );
    refused("nodes[2]", "a cycle", |f| {
        f.set("/nodes/2/children", json!([2]))
    });
    let cycle = |f: &mut Fixture| {
        f.push("nodes", json!({"children": [4]}));
        f.push("nodes", json!({"children": [3]}));
    };
    refused(
        "nodes[4]",
        "its chain of parents is a cycle; expected one that ends at a root",
        cycle,
    );
    refused("nodes[2].mesh", "9 is out of range; there are 1", |f| {
        f.set("/nodes/2/mesh", json!(9))
    });
    refused("nodes[2].skin", "9 is out of range; there are 1", |f| {
        f.set("/nodes/2/skin", json!(9))
    });
}

#[test]
fn transforms() {
    let matrix = |last: f32| {
        json!([
            1.0, 0.0, 0.0, last, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0
        ])
    };
    refused(
        "nodes[0].matrix",
        "its last row is [0.5, 0.0, 0.0, 1.0]; expected 0 0 0 1",
        |f| {
            f.set("/nodes/0/matrix", matrix(0.5));
        },
    );
    refused(
        "nodes[1].matrix",
        "stands beside translation, rotation or scale",
        |f| f.set("/nodes/1/matrix", matrix(0.0)),
    );
    refused(
        "nodes[0].scale",
        "holds inf; expected finite numbers",
        |f| f.set("/nodes/0/scale", json!([1e39, 1.0, 1.0])),
    );
    refused("nodes[0].rotation", "has zero length", |f| {
        f.set("/nodes/0/rotation", json!([0.0, 0.0, 0.0, 0.0]))
    });
    refused(
        "animations[0].channels[0].target.node",
        "nodes[1] has a matrix",
        |f| {
            f.remove("/nodes/1/translation");
            f.set("/nodes/1/matrix", matrix(0.0));
        },
    );
}

#[test]
fn skins() {
    refused(
        "skins[0].joints[1]",
        "node 3 is out of range; there are 3",
        |f| f.set("/skins/0/joints/1", json!(3)),
    );
    refused(
        "skins[0].inverseBindMatrices",
        "1 matrices for 2 joints",
        |f| f.set("/accessors/4/count", json!(1)),
    );
    refused(
        "skins[0].inverseBindMatrices",
        "accessor 99 is out of range",
        |f| {
            f.set("/skins/0/inverseBindMatrices", json!(99));
        },
    );
    refused(
        "skins[0].inverseBindMatrices",
        "matrix 0: its last row is [3.0, 0.0, 0.0, 1.0]",
        |f| {
            let offset = f.json["bufferViews"][INVERSE_BINDS]["byteOffset"]
                .as_u64()
                .unwrap() as usize
                + 12;
            f.buffer[offset..offset + 4].copy_from_slice(&3.0f32.to_le_bytes());
        },
    );
    refused(
        "skins[0].joints",
        "70000 palette entries so far; expected at most 65535",
        |f| {
            f.set("/skins/0/joints", json!(vec![0; 70_000]));
            f.remove("/skins/0/inverseBindMatrices");
        },
    );
}

#[test]
fn attributes() {
    let primitive = "meshes[0].primitives[0]";
    let at = |field: &str| format!("{primitive}.{field}");
    refused(&at("attributes"), "no POSITION", |f| {
        f.remove("/meshes/0/primitives/0/attributes/POSITION")
    });
    refused(&at("attributes"), "1 JOINTS_n and WEIGHTS_n", |f| {
        f.remove("/meshes/0/primitives/0/attributes/JOINTS_0")
    });
    // A leading zero does not name another set, and no set may be missing.
    for set in ["JOINTS_01", "JOINTS_2"] {
        refused(&at("attributes"), "3 JOINTS_n and WEIGHTS_n", |f| {
            f.set(
                &format!("/meshes/0/primitives/0/attributes/{set}"),
                json!(1),
            )
        });
    }
    refused(&at("attributes"), "JOINTS_0 without WEIGHTS_0", |f| {
        f.remove("/meshes/0/primitives/0/attributes/WEIGHTS_0")
    });
    refused(&at("attributes"), "0 JOINTS_n and WEIGHTS_n", |f| {
        f.remove("/meshes/0/primitives/0/attributes/JOINTS_0");
        f.remove("/meshes/0/primitives/0/attributes/WEIGHTS_0");
    });
    refused(
        &at("attributes.JOINTS_0"),
        "vertex 1 has joint 9; its skin has 2",
        |f| f.buffer[36 + 5] = 9,
    );
    refused(
        &at("attributes.WEIGHTS_0"),
        "vertex 0 has the weight -1; expected 0 or more",
        |f| f.buffer[48 + 3] = 0xBF,
    );
    refused(
        &at("attributes.WEIGHTS_0"),
        "2 elements; expected 3, as POSITION has",
        |f| f.set("/accessors/2/count", json!(2)),
    );
    refused(
        &at("indices"),
        "index 3 at 2 is out of range; there are 3 vertices",
        |f| f.buffer[96 + 4] = 3,
    );
    refused(primitive, "2 indices; expected a multiple of 3", |f| {
        f.set("/accessors/3/count", json!(2))
    });
    refused(&at("mode"), "7; expected 0 to 6", |f| {
        f.set("/meshes/0/primitives/0/mode", json!(7))
    });
    refused(&at("material"), "0 is out of range; there are 0", |f| {
        f.set("/meshes/0/primitives/0/material", json!(0))
    });
    refused(
        "accessors[1].componentType",
        "F32; expected U8, U16 or U32 for meshes[0].primitives[0].attributes.JOINTS_0",
        |f| {
            f.set("/accessors/1/componentType", json!(FLOAT));
            f.set("/accessors/1/bufferView", json!(WEIGHTS));
        },
    );
    refused(
        "materials[0].pbrMetallicRoughness.baseColorFactor",
        "holds inf",
        |f| {
            f.push(
                "materials",
                json!({"pbrMetallicRoughness": {"baseColorFactor": [1e39, 0.0, 0.0, 1.0]}}),
            );
        },
    );
}

#[test]
fn animations() {
    let sampler = "animations[0].samplers[0]";
    refused(
        "animations[0].channels[0].sampler",
        "7 is out of range; there are 1",
        |f| {
            f.set("/animations/0/channels/0/sampler", json!(7));
        },
    );
    refused(
        "animations[0].channels[0].target.node",
        "7 is out of range; there are 3",
        |f| {
            f.set("/animations/0/channels/0/target/node", json!(7));
        },
    );
    refused(
        "animations[0].channels[0].target.path",
        "\"shear\"; expected \"translation\"",
        |f| {
            f.set("/animations/0/channels/0/target/path", json!("shear"));
        },
    );
    refused(
        &format!("{sampler}.interpolation"),
        "\"EASE\"; expected \"LINEAR\", \"STEP\" or \"CUBICSPLINE\"",
        |f| {
            f.set("/animations/0/samplers/0/interpolation", json!("EASE"));
        },
    );
    refused(
        &format!("{sampler}.output"),
        "2 elements for 2 keys; expected 3 per key",
        |f| {
            f.set(
                "/animations/0/samplers/0/interpolation",
                json!("CUBICSPLINE"),
            );
        },
    );
    refused(
        "accessors[6].type",
        "\"VEC4\"; expected \"VEC3\" for animations[0].samplers[0].output",
        |f| {
            f.set("/animations/0/channels/0/target/path", json!("scale"));
        },
    );
    let clip = "animations[0], clip \"bend\", track 0 (Rotation of joint 1)";
    let time = |key: usize, value: f32| {
        move |f: &mut Fixture| {
            let offset =
                f.json["bufferViews"][TIMES]["byteOffset"].as_u64().unwrap() as usize + 4 * key;
            f.buffer[offset..offset + 4].copy_from_slice(&value.to_le_bytes());
        }
    };
    refused(
        clip,
        "key 1 at 0.25 s does not come after key 0 at 0.5 s",
        time(1, 0.25),
    );
    refused(clip, "key 0 has the time -1", time(0, -1.0));
    refused(
        "animations[0], clip \"bend\", track 1 (Rotation of joint 1)",
        "a second track for the same channel",
        |f| {
            let channel = f.json["animations"][0]["channels"][0].clone();
            f.set("/animations/0/channels", json!([channel, channel]));
        },
    );
}

#[test]
fn scenes() {
    refused("scene", "1 is out of range; there are 1", |f| {
        f.set("/scene", json!(1));
    });
    refused("scenes[0].nodes[1]", "node 9 is out of range", |f| {
        f.set("/scenes/0/nodes", json!([0, 9]));
    });
    refused(
        "nodes[0].extensions.MSFT_lod.ids[0]",
        "node 9 is out of range",
        |f| {
            f.set("/nodes/0/extensions", json!({"MSFT_lod": {"ids": [9]}}));
        },
    );
}

/// However long the texts of a file are, an error has one short line.
#[test]
fn long_texts_are_cut() {
    let long = "x".repeat(2 << 20);
    type Edit<'a> = &'a dyn Fn(&mut Fixture);
    let edits: [Edit; 9] = [
        &|f| f.set("/buffers/0/uri", json!(long)),
        &|f| f.set("/buffers/0/uri", json!(format!("data:{long}"))),
        &|f| f.set("/buffers/0/uri", json!(format!("{long}:"))),
        &|f| f.set("/asset/version", json!(long)),
        &|f| f.set("/extensionsRequired", json!([long])),
        &|f| f.set("/accessors/0/type", json!(long)),
        &|f| f.set("/animations/0/channels/0/target/path", json!(long)),
        &|f| f.set("/nodes/0/matrix", json!(long)),
        &|f| {
            f.set("/animations/0/name", json!(long));
            f.set("/animations/0/samplers/0/output", json!(INVERSE_BINDS));
        },
    ];
    for (index, edit) in edits.iter().enumerate() {
        let mut fixture = Fixture::new();
        edit(&mut fixture);
        let folder = tempfile::tempdir().unwrap();
        let error = refusal(&fixture.write(folder.path()));
        assert!(
            error.place.len() + error.problem.len() < 1_000,
            "{index}: {}",
            error.problem.len()
        );
    }
}

#[test]
fn small_files_that_ask_for_much() {
    // One mesh of ten thousand vertices, used by ten thousand nodes.
    refused("meshes[0].primitives[0]", "would need more memory", |f| {
        let count = 10_000;
        let positions = f.floats("VEC3", &vec![0.0; 3 * count]);
        let joints = f.accessor(UNSIGNED_BYTE, "VEC4", count, &vec![0; 4 * count]);
        let weights = f.accessor(UNSIGNED_BYTE, "VEC4", count, &[255, 0, 0, 0].repeat(count));
        f.set(
            "/meshes/0/primitives/0",
            json!({"attributes": {"POSITION": positions, "JOINTS_0": joints, "WEIGHTS_0": weights}, "mode": 0}),
        );
        for _ in 0..count {
            f.push("nodes", json!({"mesh": 0, "skin": 0}));
        }
    });
    let nodes = format!(
        "{{\"asset\": {{\"version\": \"2.0\"}}, \"nodes\": [{}{{}}]}}",
        "{},".repeat(1_000_000)
    );
    let error = bytes_refused("a.gltf", nodes.as_bytes());
    assert_eq!(error.place, "JSON of 1000003 objects", "{error}");
}

#[test]
fn notes_of_our_exporter() {
    let note = |place: &str, problem: &str, pointer: &str, note: serde_json::Value| {
        refused(place, problem, |f| {
            f.set(pointer, json!({"skinbench": note}))
        });
    };
    let (asset, primitive) = ("/asset/extras", "/meshes/0/primitives/0/extras");
    note(
        "asset.extras.skinbench.handedness",
        "\"both\"; expected",
        asset,
        json!({"handedness": "both"}),
    );
    note(
        "asset.extras.skinbench.up",
        "3; expected 0, 1 or 2",
        asset,
        json!({"up": 3}),
    );
    let place = "meshes[0].primitives[0].extras.skinbench.vertices";
    note(
        place,
        "4; expected 1 to 3, the number of vertices",
        primitive,
        json!({"vertices": 4}),
    );
    note(
        place,
        "0; expected 1 to 3",
        primitive,
        json!({"vertices": 0}),
    );
}
