use super::*;
use glam::Vec4;

/// Every operation, on numbers that differ between all lanes.
struct Operations<'a> {
    /// Largest errors by operation.
    results: &'a mut Vec<(&'static str, f64)>,
}

impl Kernel for Operations<'_> {
    #[inline(always)] // to take on the caller's instruction set
    fn run<const W: usize, V: Simd<W>>(self) {
        let results = self.results;
        let a: [f32; W] = std::array::from_fn(|i| 0.37 * i as f32 - 1.3);
        let b: [f32; W] = std::array::from_fn(|i| 2.9 - 0.51 * i as f32);
        let c: [f32; W] = std::array::from_fn(|i| 0.5 + 100.0 * i as f32);
        let (va, vb, vc) = (V::load(&a), V::load(&b), V::load(&c));
        let worst = |got: V, want: &dyn Fn(usize) -> f32| {
            let mut out = [f32::NAN; W];
            got.store(&mut out);
            let error = |(i, v): (usize, &f32)| {
                f64::from((v - want(i)).abs()) / f64::from(want(i).abs().max(1.0))
            };
            out.iter().enumerate().map(error).fold(0.0, |worst, e| {
                if e > worst || e.is_nan() { e } else { worst }
            })
        };
        results.extend([
            ("splat", worst(V::splat(7.0), &|_| 7.0)),
            ("add", worst(va + vb, &|i| a[i] + b[i])),
            ("sub", worst(va - vb, &|i| a[i] - b[i])),
            ("mul", worst(va * vb, &|i| a[i] * b[i])),
            ("div", worst(va / vc, &|i| a[i] / c[i])),
            (
                "mul_add",
                worst(va.mul_add(vb, vc), &|i| a[i] * b[i] + c[i]),
            ),
            ("max", worst(va.max(vb), &|i| a[i].max(b[i]))),
            ("min", worst(va.min(vb), &|i| a[i].min(b[i]))),
            (
                "inverse_sqrt",
                worst(vc.inverse_sqrt(), &|i| 1.0 / c[i].sqrt()),
            ),
            ("copysign", worst(vc.copysign(va), &|i| c[i].copysign(a[i]))),
            ("abs", worst(vb.abs(), &|i| b[i].abs())),
            (
                "select_negative",
                worst(V::select_negative(va, vb, vc), &|i| {
                    if a[i] < 0.0 { b[i] } else { c[i] }
                }),
            ),
        ]);

        // Lanes of a quad have numbers of 16, 11, 6 and 1 bits, 13 bits apart.
        let bytes: [[u8; 16]; 4] =
            std::array::from_fn(|quad| std::array::from_fn(|i| (37 * (16 * quad + i) + 5) as u8));
        let place = |lane: usize| 7 + 13 * (lane % 4);
        let mask = |lane: usize| ((1u32 << (16 - 5 * (lane % 4))) - 1) << (place(lane) % 8);
        let picks: [f32; W] = std::array::from_fn(|lane| {
            let first = (place(lane) / 8) as u32;
            f32::from_bits(first | (first + 1) << 8 | (first + 2) << 16 | 0xc000_0000)
        });
        let masks: [f32; W] = std::array::from_fn(|lane| f32::from_bits(mask(lane)));
        let picked = V::pick(bytes.each_ref(), V::load(&picks), V::load(&masks));
        let number = |lane: usize| {
            let window = u128::from_le_bytes(bytes[lane / 4]) >> (place(lane) / 8 * 8);
            (window as u32 & mask(lane)) as f32
        };
        results.push(("pick", worst(picked, &number)));
        let (low, high): ([f32; W], [f32; W]) = (
            std::array::from_fn(|i| -32767.0 + 4000.3 * i as f32),
            std::array::from_fn(|i| 31.6 - 17.3 * i as f32),
        );
        let mut packed = [0.0; W];
        V::pack_16(V::load(&low), V::load(&high)).store(&mut packed);
        let halves = packed.map(|p| (p.to_bits() as u16 as i16, (p.to_bits() >> 16) as u16 as i16));
        let wrong = |(i, (l, h)): (usize, &(i16, i16))| {
            f64::from(
                (f32::from(*l) - low[i])
                    .abs()
                    .max((f32::from(*h) - high[i]).abs())
                    > 0.501,
            )
        };
        results.push(("pack_16", halves.iter().enumerate().map(wrong).sum()));

        let rows: [[f32; W]; W] =
            std::array::from_fn(|r| std::array::from_fn(|c| (W * r + c) as f32));
        let mut square: [V; W] = std::array::from_fn(|r| V::load(&rows[r]));
        V::transpose(&mut square);
        for (column, v) in square.into_iter().enumerate() {
            results.push(("transpose", worst(v, &|row| rows[row][column])));
        }

        let columns = V::columns([va, vb, vc, V::splat(7.0)]);
        for (lane, column) in columns.into_iter().enumerate() {
            let off = column - Vec4::new(a[lane], b[lane], c[lane], 7.0);
            results.push(("columns", f64::from(off.length())));
        }

        interleaved::<W, V, 2>(results);
        interleaved::<W, V, 3>(results);
        interleaved::<W, V, 4>(results);
        interleaved::<W, V, 6>(results);
        interleaved::<W, V, 10>(results);
        for count in 0..=W {
            let both = [a, b];
            let want = &both.as_flattened()[W - count..];
            results.push(("joined", worst(V::joined(va, vb, count), &|i| want[i])));
        }

        // Starts at and one float past the alignment of any vector.
        #[repr(align(64))]
        struct LineAligned([f32; 48]);
        for offset in [0, 1, 16] {
            let mut memory = LineAligned([0.0; 48]);
            va.stream(memory.0[offset..].first_chunk_mut().unwrap());
            fence();
            let v = V::load(memory.0[offset..].first_chunk().unwrap());
            results.push(("stream", worst(v, &|i| a[i])));
        }
        let fused = V::mul_add_128(
            Vec4::splat(3.0),
            Vec4::new(1.0, 2.0, 3.0, 4.0),
            Vec4::splat(-1.0),
        );
        results.push((
            "mul_add_128",
            f64::from((fused - Vec4::new(2.0, 5.0, 8.0, 11.0)).length()),
        ));
    }
}

/// Numbers of vertices in rows, and one vertex after the other.
#[inline(always)] // to take on the caller's instruction set
fn interleaved<const W: usize, V: Simd<W>, const N: usize>(results: &mut Vec<(&'static str, f64)>) {
    let mut rows = [V::splat(0.0); N];
    for (number, row) in rows.iter_mut().enumerate() {
        let numbers: [f32; W] = std::array::from_fn(|vertex| (N * vertex + number) as f32);
        *row = V::load(&numbers);
    }
    let mut out = [[f32::NAN; W]; N];
    for (out, v) in out.iter_mut().zip(V::interleave::<N>(&rows)) {
        v.store(out);
    }
    let want = (0..N * W).map(|place| place as f32);
    let wrong = out.as_flattened().iter().zip(want).filter(|(a, b)| *a != b);
    results.push(("interleave", wrong.count() as f64));
}

#[test]
fn every_operation_is_right_on_every_instruction_set() {
    for isa in Isa::available() {
        let mut results = Vec::new();
        run(
            isa,
            Operations {
                results: &mut results,
            },
        );
        for (operation, error) in results {
            assert!(error <= 4e-7, "{isa} {operation}: off by {error}");
        }
    }
}
