//! Counts in a disassembly as LLVM writes it for RADV: labels at the beginning of a line, instructions behind a tab.

use std::ops::{Add, AddAssign, Mul, Range};

/// Instructions of each kind, and the bytes that one thread moves.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Counts {
    pub instructions: f64,
    /// On the vector unit.
    pub vector: f64,
    /// From memory, for each thread.
    pub loads: f64,
    pub loaded_bytes: f64,
    /// To memory, for each thread.
    pub stores: f64,
    pub stored_bytes: f64,
    /// From memory through the scalar unit, once for a wave.
    pub scalar_loads: f64,
    /// Reads and writes of workgroup memory.
    pub workgroup: f64,
}

impl Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            instructions: self.instructions + other.instructions,
            vector: self.vector + other.vector,
            loads: self.loads + other.loads,
            loaded_bytes: self.loaded_bytes + other.loaded_bytes,
            stores: self.stores + other.stores,
            stored_bytes: self.stored_bytes + other.stored_bytes,
            scalar_loads: self.scalar_loads + other.scalar_loads,
            workgroup: self.workgroup + other.workgroup,
        }
    }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Mul<f64> for Counts {
    type Output = Self;

    fn mul(self, by: f64) -> Self {
        Self {
            instructions: self.instructions * by,
            vector: self.vector * by,
            loads: self.loads * by,
            loaded_bytes: self.loaded_bytes * by,
            stores: self.stores * by,
            stored_bytes: self.stored_bytes * by,
            scalar_loads: self.scalar_loads * by,
            workgroup: self.workgroup * by,
        }
    }
}

/// A shader's instructions, loops and branches.
pub struct Listing {
    instructions: Vec<Counts>,
    /// In the order of their first instruction.
    loops: Vec<Range<usize>>,
    /// What branches forwards skip.
    skipped: Vec<Range<usize>>,
}

/// The work of one thread of a kernel that skins.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Work {
    /// Vertices times instances.
    pub pairs: u32,
    /// Turns of each loop before the one over pairs.
    pub setup_turns: u32,
    /// Influences of each vertex.
    pub influences: u32,
}

/// The name of a label, and the instruction at which it stands or that branches to it.
struct Label<'a> {
    name: &'a str,
    at: usize,
}

impl Listing {
    /// Reads a disassembly.
    pub fn parse(text: &str) -> Self {
        let mut labels = Vec::new();
        let mut branches = Vec::new();
        let mut instructions = Vec::new();
        for line in text.lines() {
            let code = line.split(';').next().unwrap_or("").trim_end();
            if let Some(label) = code.strip_suffix(':') {
                labels.push(Label {
                    name: label.trim(),
                    at: instructions.len(),
                });
            } else if let Some(code) = code.strip_prefix('\t') {
                let (mnemonic, operands) = code.split_once(' ').unwrap_or((code, ""));
                if mnemonic.starts_with("s_branch") || mnemonic.starts_with("s_cbranch") {
                    branches.push(Label {
                        name: operands.trim(),
                        at: instructions.len(),
                    });
                }
                instructions.push(counted(mnemonic, operands));
            }
        }
        let mut loops: Vec<Range<usize>> = Vec::new();
        let mut skipped = Vec::new();
        for branch in branches {
            let Some(target) = labels.iter().find(|label| label.name == branch.name) else {
                continue;
            };
            let start = target.at;
            let end = branch.at;
            if start > end {
                skipped.push(end + 1..start);
                continue;
            }
            match loops.iter_mut().find(|known| known.start == start) {
                Some(known) => known.end = known.end.max(end + 1),
                None => loops.push(start..end + 1),
            }
        }
        loops.sort_by_key(|l| l.start);
        Self {
            instructions,
            loops,
            skipped,
        }
    }

    /// Every instruction once.
    pub fn total(&self) -> Counts {
        self.sum(0..self.instructions.len())
    }

    fn sum(&self, range: Range<usize>) -> Counts {
        self.instructions[range]
            .iter()
            .fold(Counts::default(), |sum, &one| sum + one)
    }

    /// The outermost loops within a range that is not one of them itself.
    fn within(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let mut found: Vec<Range<usize>> = Vec::new();
        for l in self
            .loops
            .iter()
            .filter(|l| *l != range && l.start >= range.start && l.end <= range.end)
        {
            if found.last().is_none_or(|outer| l.start >= outer.end) {
                found.push(l.clone());
            }
        }
        found
    }

    /// The second to fourth influences of a vertex within a range: branches within each other that skip reading. A vertex
    /// shader that culls has them twice: for positions, then for what else is left to skin.
    fn influences(&self, range: &Range<usize>) -> Vec<Range<usize>> {
        let within = |inner: &Range<usize>, outer: &Range<usize>| {
            inner != outer && inner.start >= outer.start && inner.end <= outer.end
        };
        let mut reading = Vec::new();
        for skipped in &self.skipped {
            let in_loop = self.within(range).iter().any(|l| within(skipped, l));
            let counts = self.sum(skipped.clone());
            if within(skipped, range) && !in_loop && counts.loads + counts.workgroup > 0.0 {
                reading.push(skipped.clone());
            }
        }
        let mut found = Vec::new();
        for second in &reading {
            let inner: Vec<_> = reading
                .iter()
                .filter(|other| within(other, second))
                .collect();
            let nested =
                inner.len() == 2 && (within(inner[0], inner[1]) || within(inner[1], inner[0]));
            if nested {
                found.push(second.clone());
            }
        }
        found
    }

    /// Counts for one vertex of one instance, its share of what a thread does once included, and for another of its
    /// first four influences. Both sides of a branch count. None where the loops and branches are not those of skinning:
    /// over instances or vertices if a thread takes several, branches for the first four influences, and loops over those
    /// after the fourth.
    pub fn per_pair(&self, work: Work) -> Option<[Counts; 2]> {
        let all = 0..self.instructions.len();
        let pairs = self
            .loops
            .iter()
            .filter(|l| self.sum((*l).clone()).stores > 0.0)
            .max_by_key(|l| l.len())
            .cloned();
        if pairs.is_some() != (work.pairs > 1) {
            return None;
        }
        let pairs = pairs.unwrap_or_else(|| all.clone());
        let mut setup = self.total() + self.sum(pairs.clone()) * -1.0;
        for outside in self.within(&all) {
            if outside != pairs {
                setup += self.sum(outside) * (f64::from(work.setup_turns) - 1.0);
            }
        }
        let more = f64::from(work.influences.saturating_sub(4));
        let mut pair = self.sum(pairs.clone());
        for inner in self.within(&pairs) {
            if more == 0.0 {
                return None;
            }
            pair += self.sum(inner) * (more - 1.0);
        }
        let influences = self.influences(&pairs);
        if influences.is_empty() {
            return None;
        }
        let mut influence = Counts::default();
        for second in influences {
            influence += self.sum(second) * (1.0 / 3.0);
        }
        Some([setup * (1.0 / f64::from(work.pairs)) + pair, influence])
    }
}

fn counted(mnemonic: &str, operands: &str) -> Counts {
    let mut counts = Counts {
        instructions: 1.0,
        ..Counts::default()
    };
    let memory = [
        "buffer_", "tbuffer_", "global_", "flat_", "image_", "scratch_",
    ]
    .iter()
    .any(|p| mnemonic.starts_with(p));
    if mnemonic.starts_with("v_") {
        counts.vector = 1.0;
    } else if mnemonic.starts_with("s_load") || mnemonic.starts_with("s_buffer_load") {
        counts.scalar_loads = 1.0;
    } else if mnemonic.starts_with("ds_") {
        counts.workgroup = 1.0;
    } else if memory && mnemonic.contains("store") {
        counts.stores = 1.0;
        counts.stored_bytes = bytes(mnemonic, operands);
    } else if memory && mnemonic.contains("load") {
        counts.loads = 1.0;
        counts.loaded_bytes = bytes(mnemonic, operands);
    }
    counts
}

/// Bytes that a thread moves by an access to memory.
fn bytes(mnemonic: &str, operands: &str) -> f64 {
    if let Some((_, mask)) = operands.split_once("dmask:0x") {
        let digits = mask.split_whitespace().next().unwrap_or("");
        return 4.0 * f64::from(u32::from_str_radix(digits, 16).unwrap_or(0).count_ones());
    }
    for (name, width) in [
        ("x4", 16.0),
        ("x3", 12.0),
        ("x2", 8.0),
        ("byte", 1.0),
        ("short", 2.0),
        ("xyzw", 16.0),
    ] {
        if mnemonic.contains(name) {
            return width;
        }
    }
    4.0
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A loop over pairs, with branches for the second to fourth influences.
    const TEXT: &str = "BB0:
\tv_mov_b32_e32 v1, v0 ; 7e020300
\ts_load_dwordx4 s[0:3], s[4:5], null ; f4
BB1:
\ts_cbranch_scc1 BB5 ; bf
\ts_cbranch_execz BB4
\tbuffer_load_dwordx3 v[4:6], v1, s[0:3], 0 offen
\ts_cbranch_execz BB4
\tbuffer_load_dwordx3 v[4:6], v1, s[0:3], 0 offen
\ts_cbranch_execz BB4
\tbuffer_load_dwordx3 v[4:6], v1, s[0:3], 0 offen
\tv_fmac_f32_e32 v1, v2, v3
BB4:
\tbuffer_store_dwordx2 v[4:5], v1, s[0:3], 0 offen
\ts_branch BB1
BB5:
\ts_endpgm
";
    const WORK: Work = Work {
        pairs: 3,
        setup_turns: 1,
        influences: 4,
    };

    #[test]
    fn instructions_and_bytes_are_counted() {
        let total = Listing::parse(TEXT).total();
        let expected = Counts {
            instructions: 13.0,
            vector: 2.0,
            loads: 3.0,
            loaded_bytes: 36.0,
            stores: 1.0,
            stored_bytes: 8.0,
            scalar_loads: 1.0,
            workgroup: 0.0,
        };
        assert_eq!(total, expected);
    }

    #[test]
    fn set_up_is_shared_and_branches_are_influences() {
        let listing = Listing::parse(TEXT);
        assert_eq!(listing.loops.len(), 1);
        assert_eq!(listing.loops[0], 2..12);
        let [pair, influence] = listing.per_pair(WORK).unwrap();
        // Three outside for three pairs, ten of a pair; the six of three influences.
        assert_eq!(pair.instructions, 1.0 + 10.0);
        assert_eq!(pair.loaded_bytes, 36.0);
        assert_eq!(
            (influence.instructions, influence.loaded_bytes),
            (2.0, 12.0)
        );
        let one = Work { pairs: 1, ..WORK };
        assert!(listing.per_pair(one).is_none(), "it has no loop");
        let without = TEXT.replace("s_cbranch_execz BB4", "v_nop");
        assert!(Listing::parse(&without).per_pair(WORK).is_none());
    }
}
