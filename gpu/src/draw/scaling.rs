//! Scaling of textures in linear light.

use skinbench_kernels::model::Pixels;
use skinbench_kernels::threads::Threads;
use std::ops::Range;

/// The image in another size. Each new pixel is the average of those that it covers, weighted by their alpha.
pub fn scaled(image: &Pixels, size: [u32; 2]) -> Pixels {
    if image.size == size {
        return image.clone();
    }
    let linear: Vec<f32> = (0..=255u8)
        .map(|value| to_linear(f32::from(value) / 255.0))
        .collect();
    let row = 4 * image.size[0] as usize;
    let mut rgba = vec![0; 4 * size[0] as usize * size[1] as usize];
    let line = 4 * size[0] as usize;
    Threads::All.each(&mut rgba, line, |y, line| {
        let rows = covered(y, size[1], image.size[1]);
        for (x, texel) in line.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            let columns = covered(x, size[0], image.size[0]);
            let (mut weighted, mut plain, mut alpha) = ([0.0; 3], [0.0; 3], 0.0);
            for y in rows.clone() {
                let pixels = &image.rgba[y * row..][4 * columns.start..4 * columns.end];
                for &[r, g, b, a] in pixels.as_chunks::<4>().0 {
                    let a = f32::from(a) / 255.0;
                    alpha += a;
                    for (channel, value) in [r, g, b].into_iter().enumerate() {
                        plain[channel] += linear[usize::from(value)];
                        weighted[channel] += a * linear[usize::from(value)];
                    }
                }
            }
            let count = (rows.len() * columns.len()) as f32;
            let [r, g, b] = if alpha > 0.0 {
                weighted.map(|sum| sum / alpha)
            } else {
                plain.map(|sum| sum / count)
            };
            *texel = [to_srgb(r), to_srgb(g), to_srgb(b), alpha / count]
                .map(|v| (255.0 * v).round() as u8);
        }
    });
    Pixels { size, rgba }
}

/// The pixels of an edge of `from` that pixel `at` of an edge of `to` covers.
fn covered(at: usize, to: u32, from: u32) -> Range<usize> {
    let (to, from) = (to as usize, from as usize);
    let first = at * from / to;
    first..((at + 1) * from).div_ceil(to).max(first + 1)
}

/// sRGB to linear light, both 0 to 1 (IEC 61966-2-1).
fn to_linear(srgb: f32) -> f32 {
    if srgb <= 0.04045 {
        srgb / 12.92
    } else {
        ((srgb + 0.055) / 1.055).powf(2.4)
    }
}

fn to_srgb(linear: f32) -> f32 {
    if linear <= 0.003_130_8 {
        12.92 * linear
    } else {
        1.055 * linear.powf(1.0 / 2.4) - 0.055
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn black_and_white_mix_in_linear_light() {
        let image = Pixels {
            size: [2, 1],
            rgba: vec![0, 0, 0, 255, 255, 255, 255, 255],
        };
        assert_eq!(scaled(&image, [1, 1]).rgba, [188, 188, 188, 255]);
        assert_eq!(
            scaled(&image, [4, 2]).rgba[..16],
            [
                0, 0, 0, 255, 0, 0, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255
            ]
        );
    }

    #[test]
    fn what_is_transparent_has_no_colour() {
        let image = Pixels {
            size: [2, 2],
            rgba: [[200, 10, 10, 255], [0, 255, 0, 0]]
                .repeat(2)
                .into_flattened(),
        };
        assert_eq!(scaled(&image, [1, 1]).rgba, [200, 10, 10, 128]);
    }

    #[test]
    fn sizes_that_do_not_divide_each_other_cover_everything() {
        let image = Pixels {
            size: [3, 5],
            rgba: [90, 120, 30, 255].repeat(15),
        };
        assert!(
            scaled(&image, [2, 2])
                .rgba
                .chunks(4)
                .all(|texel| texel == [90, 120, 30, 255])
        );
        assert_eq!([0, 1].map(|at| covered(at, 2, 3)), [0..2, 1..3]);
    }
}
