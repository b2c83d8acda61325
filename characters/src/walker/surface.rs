//! Meshing of the field: a closed triangle mesh with approximately the requested number of vertices.

use super::body::Body;
use super::cloth::Cloth;
use super::rig::Landmarks;
use crate::curves::smooth_step;
use fast_surface_nets::ndshape::{RuntimeShape, Shape};
use fast_surface_nets::{SurfaceNetsBuffer, surface_nets};
use glam::{DVec3, UVec3, dvec3};
use rayon::prelude::*;
use std::ops::Range;

/// A closed surface in model space, metres; triangles counter-clockwise seen from outside.
pub struct Surface {
    pub positions: Vec<DVec3>,
    pub normals: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
}

/// Aspect of cells, taller than wide because limbs are vertical.
const CELL_ASPECT: DVec3 = dvec3(1.0, 1.4, 1.0);
/// Bounding box of the body.
const BOX: [DVec3; 2] = [dvec3(-0.80, -0.06, -0.24), dvec3(0.80, 1.80, 0.30)];

/// A part of space in which cells are `magnification` times finer at the centre, and unchanged from `radii` outwards.
struct Lens {
    centre: DVec3,
    radii: DVec3,
    magnification: f64,
}

impl Lens {
    /// Maps a point `u` of the grid to the model.
    fn map(&self, u: DVec3) -> DVec3 {
        let from_centre = u - self.centre;
        let t = (from_centre / self.radii).length();
        if t >= 1.0 {
            return u;
        }
        let finest = 1.0 / self.magnification;
        self.centre + from_centre * (finest + (1.0 - finest) * smooth_step((t - 0.3) / 0.7))
    }
}

/// A regular grid in a distorted space, in which hands, head and feet have finer cells than the trunk.
struct WarpedGrid {
    lenses: [Lens; 4],
    spacing: DVec3,
    centre: DVec3,
    size: UVec3,
}

/// Factor by which cells are finer in the hands.
const HAND_MAGNIFICATION: f64 = 3.0;

impl WarpedGrid {
    fn new(at: &Landmarks, cell: f64) -> Self {
        let spacing = CELL_ASPECT * cell;
        let half = (BOX[1] - BOX[0]) * 0.5;
        // One more cell on each side closes the surface; an even number makes the mesh the same left and right.
        let cells = (half / spacing).ceil().as_uvec3() * 2 + 4;
        let centre = (BOX[0] + BOX[1]) * 0.5;
        let hand = at.wrist + at.hand_axis * 0.115 + dvec3(0.0, 0.0, 0.01);
        let radii = DVec3::splat(0.40);
        Self {
            lenses: [
                Lens {
                    centre: hand,
                    radii,
                    magnification: HAND_MAGNIFICATION,
                },
                Lens {
                    centre: dvec3(-hand.x, hand.y, hand.z),
                    radii,
                    magnification: HAND_MAGNIFICATION,
                },
                Lens {
                    centre: dvec3(0.0, 1.63, 0.04),
                    radii: DVec3::splat(0.34),
                    magnification: 2.0,
                },
                Lens {
                    centre: dvec3(0.0, 0.02, 0.06),
                    radii: dvec3(0.50, 0.36, 0.40),
                    magnification: 1.9,
                },
            ],
            spacing,
            centre,
            size: cells + 1,
        }
    }

    /// Maps a point of the grid, counted in cells, to the model.
    fn point(&self, cells: DVec3) -> DVec3 {
        // From the middle, so that left and right are rounded alike.
        let u = self.centre + self.spacing * (cells - (self.size - 1).as_dvec3() * 0.5);
        self.lenses.iter().fold(u, |p, lens| lens.map(p))
    }
}

/// Returns whether the corners of `mask` are connected along the cell's edges.
fn is_connected(mask: u32) -> bool {
    let mut reached = mask & mask.wrapping_neg();
    for _ in 0..8 {
        for axis in 0..3 {
            let upper = [0xaa, 0xcc, 0xf0][axis];
            reached |=
                ((reached & upper) >> (1 << axis) | (reached & !upper) << (1 << axis)) & mask;
        }
    }
    reached == mask
}

/// A point at which the field was evaluated.
#[derive(Clone, Copy)]
struct Evaluated {
    point: DVec3,
    distance: f64,
}

impl Evaluated {
    /// Returns whether the surface cannot lie between the two points.
    fn covers(&self, point: DVec3) -> bool {
        point.distance(self.point) < self.distance.abs()
    }
}

/// The field at the points of a grid, x fastest. Where it has not been refined, only its sign is right.
struct Field {
    grid: WarpedGrid,
    body: Body,
    distances: Vec<f32>,
    refined: Vec<bool>,
    /// Corners of a cell, counted from its first: bit 0 along x, bit 1 along y, bit 2 along z.
    corners: [usize; 8],
}

impl Field {
    fn new(grid: WarpedGrid, body: Body) -> Self {
        let [nx, ny, nz] = grid.size.to_array().map(|n| n as usize);
        let corners = std::array::from_fn(|corner| {
            (corner & 1) + (corner >> 1 & 1) * nx + (corner >> 2) * nx * ny
        });
        let refined = vec![false; nx * ny * nz];
        let mut field = Self {
            grid,
            body,
            distances: Vec::new(),
            refined,
            corners,
        };
        let layer = nx * ny;
        let layers = (0..nz).into_par_iter();
        let layers = layers.map(|z| field.layer(z * layer..(z + 1) * layer));
        field.distances = layers.collect::<Vec<_>>().concat();
        field
    }

    /// Distances with the right signs. A point is not evaluated if it is so close to one that was, before it in its row
    /// or below it, that the surface cannot lie between them.
    fn layer(&self, points: Range<usize>) -> Vec<f32> {
        let nx = self.grid.size.x as usize;
        let nowhere = Evaluated {
            point: DVec3::INFINITY,
            distance: 0.0,
        };
        let mut below = vec![nowhere; nx];
        let mut before = nowhere;
        let mut distances = Vec::with_capacity(points.len());
        for index in points {
            let point = self.point(index);
            let below = &mut below[index % nx];
            if !before.covers(point) {
                before = *below;
            }
            if !before.covers(point) {
                let distance = self.body.distance(point);
                before = Evaluated { point, distance };
            }
            *below = before;
            distances.push(before.distance as f32);
        }
        distances
    }

    fn point(&self, index: usize) -> DVec3 {
        let index = index as u32;
        let UVec3 { x: nx, y: ny, .. } = self.grid.size;
        self.grid
            .point(UVec3::new(index % nx, index / nx % ny, index / (nx * ny)).as_dvec3())
    }

    /// First corners of all cells.
    fn cells(&self) -> impl Iterator<Item = usize> + use<> {
        let [nx, ny, nz] = self.grid.size.to_array().map(|n| n as usize);
        (0..nz - 1).flat_map(move |z| {
            (0..ny - 1).flat_map(move |y| (0..nx - 1).map(move |x| x + nx * (y + ny * z)))
        })
    }

    /// Corners of a cell that are inside the body; `None` if the surface does not cross the cell.
    fn crossing(&self, first: usize) -> Option<usize> {
        let mut mask = 0;
        for (bit, corner) in self.corners.iter().enumerate() {
            mask |= usize::from(self.distances[first + corner] < 0.0) << bit;
        }
        (mask != 0 && mask != 0xff).then_some(mask)
    }

    /// Calculates the distances at some points.
    fn refine(&mut self, mut points: Vec<usize>) {
        points.retain(|&index| !std::mem::replace(&mut self.refined[index], true));
        let exact = points.par_iter();
        let exact = exact.map(|&index| self.body.distance(self.point(index)));
        let exact: Vec<f64> = exact.collect();
        for (index, distance) in points.into_iter().zip(exact) {
            self.distances[index] = distance as f32;
        }
    }

    /// Moves corners across the surface until in every cell the inside is connected and so is the outside.
    ///
    /// Surface nets put one vertex into a cell. If two sheets of the surface cross one cell they would share it, and
    /// edges would have four triangles. Returns the number of cells that the surface crosses, which is the number of
    /// vertices.
    fn make_manifold(&mut self) -> u32 {
        const FAITHFUL_PASSES: u32 = 4;
        let sound: Vec<bool> = (0..256)
            .map(|mask| is_connected(mask) && is_connected(!mask & 0xff))
            .collect();
        for pass in 0.. {
            let mut crossed = 0;
            let mut changed = false;
            for first in self.cells() {
                let Some(mask) = self.crossing(first) else {
                    continue;
                };
                crossed += 1;
                if !sound[mask] {
                    let corners = self.corners.map(|corner| first + corner);
                    self.refine(corners.to_vec());
                    // First the corner closest to the surface; in the end only filling, which terminates.
                    let mut nearest: Option<usize> = None;
                    for index in corners {
                        let distance = self.distances[index];
                        if (pass < FAITHFUL_PASSES || distance >= 0.0)
                            && nearest
                                .is_none_or(|other| distance.abs() < self.distances[other].abs())
                        {
                            nearest = Some(index);
                        }
                    }
                    if let Some(index) = nearest {
                        self.distances[index] = if self.distances[index] < 0.0 {
                            1e-6
                        } else {
                            -1e-6
                        };
                        changed = true;
                    }
                }
            }
            if !changed {
                return crossed;
            }
        }
        unreachable!("a field filled altogether is sound")
    }

    /// Calculates the distances that the mesh depends on.
    fn refine_crossed(&mut self) {
        let crossed = self.cells().filter(|&first| self.crossing(first).is_some());
        let points = crossed.flat_map(|first| self.corners.map(|corner| first + corner));
        self.refine(points.collect());
    }
}

/// Meshes the body with approximately `vertices` vertices.
pub fn surface(at: &Landmarks, vertices: u32) -> (Surface, Body) {
    let wanted = f64::from(vertices);
    // The number of vertices is inversely proportional to a cell's area; the first guess uses the body's own area.
    let mut cell = (2.2 / wanted).sqrt();
    let mut least = f64::INFINITY;
    let mut best = None;
    for attempt in 0..12 {
        // Gaps between fingers smaller than the hand's cells are closed; otherwise strands would bridge them.
        let body = Body::new(at, 1.5 * cell / HAND_MAGNIFICATION);
        let mut field = Field::new(WarpedGrid::new(at, cell), body);
        let count = f64::from(field.make_manifold());
        let error = (count / wanted - 1.0).abs();
        if error < least {
            least = error;
            best = Some(field);
        }
        if error < 0.01 {
            break;
        }
        // Coarse grids change in jumps; ever smaller steps find a value between two of them.
        let change = (count.max(1.0) / wanted).sqrt() - 1.0;
        cell *= 1.0 + change / (1.0 + 0.2 * f64::from(attempt));
    }
    let Some(mut field) = best else {
        unreachable!("the first guess is kept")
    };
    field.refine_crossed();
    let Field {
        grid,
        body,
        distances,
        ..
    } = field;

    let shape = RuntimeShape::<u32, 3>::new(grid.size.to_array());
    debug_assert_eq!(shape.usize(), distances.len());
    let mut buffer = SurfaceNetsBuffer::default();
    surface_nets(
        &distances,
        &shape,
        [0; 3],
        (grid.size - 1).to_array(),
        &mut buffer,
    );
    let mut mesh = QuadMesh::largest_component(&buffer);
    for p in &mut mesh.positions {
        *p = grid.point(*p);
    }
    mesh.fair(&body);
    let on_hem = mesh.snap_to_hems(at, &body);
    let positions = mesh.positions;
    let normals = positions.par_iter();
    let normals = normals.map(|&p| body.gradient(p).normalize()).collect();
    let mut triangles = Vec::new();
    for quad in &mesh.quads {
        triangles.extend(split(quad, &positions, &on_hem));
    }
    let surface = Surface {
        positions,
        normals,
        triangles,
    };
    (surface, body)
}

/// A mesh under construction.
struct QuadMesh {
    positions: Vec<DVec3>,
    quads: Vec<[u32; 4]>,
}

/// The representative of a vertex's component.
fn root(links: &mut [u32], mut vertex: u32) -> u32 {
    while links[vertex as usize] != vertex {
        links[vertex as usize] = links[links[vertex as usize] as usize];
        vertex = links[vertex as usize];
    }
    vertex
}

impl QuadMesh {
    /// The largest connected component, with positions in cells.
    fn largest_component(buffer: &SurfaceNetsBuffer) -> Self {
        let mut quads: Vec<[u32; 4]> = buffer.indices.chunks_exact(6).map(corners_of).collect();
        // Each vertex leads to a lower one of its component, and the lowest to itself.
        let mut links: Vec<u32> = (0..buffer.positions.len() as u32).collect();
        for quad in &quads {
            for corner in 1..4 {
                let a = root(&mut links, quad[0]);
                let b = root(&mut links, quad[corner]);
                links[a.max(b) as usize] = a.min(b);
            }
        }
        let vertices = 0..links.len() as u32;
        let roots: Vec<u32> = vertices.map(|vertex| root(&mut links, vertex)).collect();
        let mut sizes = vec![0u32; roots.len()];
        for &root in &roots {
            sizes[root as usize] += 1;
        }
        // Of equal ones the first.
        let largest = (0..sizes.len()).rev().max_by_key(|&root| sizes[root]);
        let largest = largest.unwrap_or(0) as u32;
        let mut new_index = vec![0; roots.len()];
        let mut positions = Vec::with_capacity(roots.len());
        for (vertex, position) in buffer.positions.iter().enumerate() {
            if roots[vertex] == largest {
                new_index[vertex] = positions.len() as u32;
                positions.push(DVec3::from(position.map(f64::from)));
            }
        }
        quads.retain(|quad| roots[quad[0] as usize] == largest);
        for vertex in quads.as_flattened_mut() {
            *vertex = new_index[*vertex as usize];
        }
        Self { positions, quads }
    }

    /// Moves vertices onto the surface and spaces them evenly.
    fn fair(&mut self, body: &Body) {
        const ROUNDS: u32 = 3;
        let mut neighbours = vec![Vec::new(); self.positions.len()];
        for quad in &self.quads {
            for corner in 0..4 {
                // Every edge belongs to two quads, once in each direction.
                neighbours[quad[corner] as usize].push(quad[(corner + 1) % 4]);
            }
        }
        self.move_vertices(|_, p| project(p, body));
        for _ in 0..ROUNDS {
            let positions = self.positions.clone();
            self.move_vertices(|vertex, p| {
                let around = &neighbours[vertex];
                let mut sum = DVec3::ZERO;
                for &neighbour in around {
                    sum += positions[neighbour as usize];
                }
                let mean = sum / around.len() as f64;
                // Only along the surface; otherwise fingertips and toes would shrink.
                let normal = body.gradient(p).normalize();
                let step = (mean - p).reject_from_normalized(normal);
                project(p + step * 0.5, body)
            });
        }
    }

    fn move_vertices(&mut self, moved: impl Fn(usize, DVec3) -> DVec3 + Sync) {
        let positions = self.positions.par_iter_mut().enumerate();
        positions.for_each(|(vertex, position)| *position = moved(vertex, *position));
    }

    /// Moves vertices that are close to the border of two covers onto the hem, which would otherwise be jagged. Returns
    /// which vertices moved.
    fn snap_to_hems(&mut self, at: &Landmarks, body: &Body) -> Vec<bool> {
        let positions = &mut self.positions;
        let cloths = positions.par_iter().map(|&p| Cloth::at(p, at, body));
        let cloths: Vec<Cloth> = cloths.collect();
        // For each vertex the closest crossing of a hem with an edge, and its share of the edge.
        let mut crossings = vec![DVec3::ZERO; positions.len()];
        let mut shares = vec![f64::INFINITY; positions.len()];
        for quad in &self.quads {
            for corner in 0..4 {
                let [a, b] = [quad[corner], quad[(corner + 1) % 4]].map(|vertex| vertex as usize);
                if cloths[a] == cloths[b] {
                    continue;
                }
                let mut within = 0.0;
                let mut beyond = 1.0;
                for _ in 0..20 {
                    let middle = (within + beyond) * 0.5;
                    let point = positions[a].lerp(positions[b], middle);
                    if Cloth::at(point, at, body) == cloths[a] {
                        within = middle;
                    } else {
                        beyond = middle;
                    }
                }
                let crossing = positions[a].lerp(positions[b], within);
                for (vertex, share) in [(a, within), (b, 1.0 - within)] {
                    // One end of every edge that a hem crosses moves; then the hem follows edges.
                    if share <= 0.5 && share < shares[vertex] {
                        shares[vertex] = share;
                        crossings[vertex] = crossing;
                    }
                }
            }
        }
        let mut on_hem = Vec::new();
        for (vertex, position) in positions.iter_mut().enumerate() {
            on_hem.push(shares[vertex].is_finite());
            if on_hem[vertex] {
                *position = project(crossings[vertex], body);
            }
        }
        on_hem
    }
}

/// The four corners, in order, of two triangles that surface nets made from a quad, the smallest index first.
///
/// The library's split of a quad depends on f32 sums whose order differs between platforms, so it is undone.
fn corners_of(indices: &[u32]) -> [u32; 4] {
    let i = indices;
    let mut quad = if i[1] == i[5] {
        [i[0], i[4], i[5], i[2]]
    } else {
        [i[0], i[1], i[2], i[5]]
    };
    let least = (0..4).min_by_key(|&corner| quad[corner]).unwrap_or(0);
    quad.rotate_left(least);
    quad
}

/// Splits a quad along a hem, otherwise along its shorter diagonal.
fn split(&[a, b, c, d]: &[u32; 4], positions: &[DVec3], on_hem: &[bool]) -> [[u32; 3]; 2] {
    let [pa, pb, pc, pd] = [a, b, c, d].map(|vertex| positions[vertex as usize]);
    let [ha, hb, hc, hd] = [a, b, c, d].map(|vertex| on_hem[vertex as usize]);
    let along_ac = if (ha && hc) == (hb && hd) {
        // Rounding must not distinguish equal diagonals, such as those on the middle of the body.
        pa.distance(pc) <= pb.distance(pd) + 1e-9
    } else {
        ha && hc
    };
    if along_ac {
        [[a, b, c], [a, c, d]]
    } else {
        [[a, b, d], [b, c, d]]
    }
}

/// The point of the surface close to `p`, by Newton's method.
fn project(mut p: DVec3, body: &Body) -> DVec3 {
    for _ in 0..6 {
        let distance = body.distance(p);
        if distance.abs() < 1e-7 {
            break;
        }
        let gradient = body.gradient(p);
        p -= gradient * (distance / gradient.length_squared().max(0.25));
    }
    p
}
