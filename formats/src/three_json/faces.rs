//! Decoding of faces: records that begin with a mask of the fields that follow.

use super::document::Geometry;
use crate::seams::Corner;
use skinbench_kernels::error::Result;

const QUAD: u32 = 1;
const MATERIAL: u32 = 1 << 1;
const UV: u32 = 1 << 2;
const CORNER_UVS: u32 = 1 << 3;
const NORMAL: u32 = 1 << 4;
const CORNER_NORMALS: u32 = 1 << 5;
const COLOR: u32 = 1 << 6;
const CORNER_COLORS: u32 = 1 << 7;

/// Triangles with the indices of their materials; a quad a b c d becomes a b d and b c d.
pub fn triangles(geometry: &Geometry) -> Result<Vec<(u16, [Corner; 3])>> {
    let vertices = geometry.vertices.len() / 3;
    let normals = geometry.normals.as_chunks::<3>().0;
    let mut layers: Vec<&[[f32; 2]]> = Vec::new();
    for layer in &geometry.uvs {
        if !layer.is_empty() {
            layers.push(layer.as_chunks().0);
        }
    }
    let mut reader = FaceReader {
        faces: &geometry.faces,
        at: 0,
    };
    let mut triangles = Vec::new();
    while reader.at < reader.faces.len() {
        let mask = reader.next()?;
        if mask > 255 {
            reader.at -= 1;
            bail!(reader.place(), "the mask {mask}; expected 0 to 255");
        }
        let count = if mask & QUAD != 0 { 4 } else { 3 };
        let mut corners = [Corner::default(); 4];
        for corner in &mut corners[..count] {
            corner.vertex = reader.index("vertex", vertices)?;
        }
        let mut material = 0;
        if mask & MATERIAL != 0 {
            material = reader.index("material", usize::from(u16::MAX))? as u16;
        }
        if mask & UV != 0 {
            for layer in &layers {
                reader.index("uv", layer.len())?;
            }
        }
        if mask & CORNER_UVS != 0 {
            // Only the first layer counts.
            for layer in &layers {
                for corner in &mut corners[..count] {
                    let uv = layer[reader.index("uv", layer.len())? as usize];
                    corner.uv.get_or_insert(uv);
                }
            }
        }
        if mask & NORMAL != 0 {
            let normal = normals[reader.index("normal", normals.len())? as usize];
            for corner in &mut corners {
                corner.normal = Some(normal);
            }
        }
        if mask & CORNER_NORMALS != 0 {
            for corner in &mut corners[..count] {
                corner.normal = Some(normals[reader.index("normal", normals.len())? as usize]);
            }
        }
        // Colours are in a list of their own, which is not read.
        if mask & COLOR != 0 {
            reader.next()?;
        }
        if mask & CORNER_COLORS != 0 {
            for _ in 0..count {
                reader.next()?;
            }
        }
        let [a, b, c, d] = corners;
        if count == 4 {
            triangles.extend([(material, [a, b, d]), (material, [b, c, d])]);
        } else {
            triangles.push((material, [a, b, c]));
        }
    }
    Ok(triangles)
}

struct FaceReader<'a> {
    faces: &'a [u32],
    at: usize,
}

impl FaceReader<'_> {
    fn next(&mut self) -> Result<u32> {
        let Some(&value) = self.faces.get(self.at) else {
            bail!(
                self.place(),
                "the list ends inside a face; expected the rest of it"
            );
        };
        self.at += 1;
        Ok(value)
    }

    fn index(&mut self, what: &str, count: usize) -> Result<u32> {
        let index = self.next()?;
        if index as usize >= count {
            self.at -= 1;
            bail!(
                self.place(),
                "{what} {index} is out of range; there are {count}"
            );
        }
        Ok(index)
    }

    fn place(&self) -> String {
        format!("faces[{}]", self.at)
    }
}
