// gpu-full, stage `blend`, one thread per joint of an instance: combines the local poses of its layers in the first
// slot. docs/animation.md has the formulas.
//
// import posed, places, thread_of_chunk from batch
// import Cursor, Joint, Local, Momentum, PosePair, local_at from pose.wgsl
// import NONE, Player, slots_of from pose_chunk.wgsl
// import WORKGROUP from workgroup.wgsl

const MERGE = 0u;
const OVERRIDE = 1u;

// Whether any layer fades inertially, and whether any instance is not posed at every tick.
override INERTIA: u32;
override RATES: u32;

// [instance]
@group(0) @binding(3) var<storage, read> players: array<Player>;
// [joint]
@group(0) @binding(8) var<storage, read> joints: array<Joint>;
// [slot]
@group(0) @binding(9) var<storage, read> cursors: array<Cursor>;
// [instance]
@group(0) @binding(10) var<storage, read> momenta: array<Momentum>;
// [mask][joint]
@group(0) @binding(11) var<storage, read> masks: array<f32>;
// [slot][rotation, translation, scale][joint]
@group(0) @binding(12) var<storage, read_write> locals: array<vec4f>;
// [instance]
@group(0) @binding(19) var<storage, read> pose_pairs: array<PosePair>;

@compute @workgroup_size(WORKGROUP)
fn main(
    @builtin(workgroup_id) group: vec3u,
    @builtin(num_workgroups) groups: vec3u,
    @builtin(local_invocation_index) thread: u32,
) {
    let index = thread_of_chunk(group, groups, thread);
    if index >= posed.instances * posed.joints {
        return;
    }
    let own = index / posed.joints;
    let joint = index - own * posed.joints;
    let instance = posed.first_instance + own;
    let player = players[instance];
    if RATES == 0u {
        blend(player, player.first_slot, instance, joint);
        return;
    }
    if player.every == 1u {
        blend(player, player.first_slot, 2u * instance, joint);
        return;
    }
    let pair = pose_pairs[instance];
    let slots = slots_of(player);
    for (var which = 0u; which < 2u; which++) {
        if (pair.modes & (4u << which)) != 0u {
            blend(player, player.first_slot + 1u + which * slots, 2u * instance + which, joint);
        }
    }
    let place = pair.modes >> 4u;
    let start = local_of(player.first_slot + 1u + place * slots, joint);
    let end = local_of(player.first_slot + 1u + (1u - place) * slots, joint);
    put(player.first_slot, joint, joined_by(start, end, OVERRIDE, pair.part));
}

// Combines one pose of an instance's layers in the first of their slots.
fn blend(player: Player, first_slot: u32, index: u32, joint: u32) {
    let momentum = momentum_of(index);
    var pose = merged(first_slot, 1u, player.layers, joint);
    for (var layer = 0u; layer < player.layers; layer++) {
        pose = joined(pose, first_slot + layer, joint);
        if INERTIA == 1u && layer == momentum.layer {
            pose = carried(pose, player, first_slot, momentum, joint);
        }
    }
    put(first_slot, joint, pose);
}

fn momentum_of(index: u32) -> Momentum {
    if INERTIA == 1u {
        return momenta[index];
    }
    return Momentum(NONE, 0u, 0.0, 0.0);
}

fn local_of(slot: u32, joint: u32) -> Local {
    let at = local_at(slot, joint);
    return Local(locals[at], locals[at + posed.joints].xyz, locals[at + 2u * posed.joints].xyz);
}

fn put(slot: u32, joint: u32, pose: Local) {
    let at = local_at(slot, joint);
    locals[at] = pose.rotation;
    locals[at + posed.joints] = vec4f(pose.translation, 0.0);
    locals[at + 2u * posed.joints] = vec4f(pose.scale, 0.0);
}

fn kind_of(cursor: Cursor) -> u32 {
    return cursor.modes & 0xffu;
}

// The weight of a slot at a joint, with its mask.
fn weight_of(cursor: Cursor, joint: u32) -> f32 {
    let mask = cursor.modes >> 8u;
    if mask == 0u || cursor.weight == 0.0 {
        return cursor.weight;
    }
    return cursor.weight * masks[places.first_mask + (mask - 1u) * posed.joints + joint];
}

// A weight with the sign that takes `b` into the hemisphere of `a`.
fn shorter(a: vec4f, b: vec4f, weight: f32) -> f32 {
    return select(weight, -weight, dot(a, b) < 0.0);
}

// Merge layers whose weights add up to less count as none.
const LEAST_SHARE = 8.6736174e-19;

// The weighted mean of the merge layers among `count` slots; the rest pose if their weights are (almost) 0.
fn merged(first: u32, stride: u32, count: u32, joint: u32) -> Local {
    var sum = Local(vec4f(0.0), vec3f(0.0), vec3f(0.0));
    var total = 0.0;
    var terms = 0u;
    for (var index = 0u; index < count; index++) {
        let slot = first + index * stride;
        let cursor = cursors[slot];
        let weight = weight_of(cursor, joint);
        if kind_of(cursor) != MERGE || weight == 0.0 {
            continue;
        }
        let pose = local_of(slot, joint);
        if terms == 0u {
            // The first layer stays unscaled until there is a second one.
            sum = pose;
        } else {
            if terms == 1u {
                sum = Local(total * sum.rotation, total * sum.translation, total * sum.scale);
            }
            sum.rotation += shorter(sum.rotation, pose.rotation, weight) * pose.rotation;
            sum.translation += weight * pose.translation;
            sum.scale += weight * pose.scale;
        }
        terms++;
        total += weight;
    }
    if total < LEAST_SHARE {
        let rest = joints[places.first_rest + joint];
        return Local(rest.rotation, rest.translation, rest.scale);
    }
    if terms == 1u {
        return sum;
    }
    return Local(normalize(sum.rotation), sum.translation / total, sum.scale / total);
}

// The product of two quaternions.
fn product(a: vec4f, b: vec4f) -> vec4f {
    return vec4f(a.w * b.xyz + b.w * a.xyz + cross(a.xyz, b.xyz), a.w * b.w - dot(a.xyz, b.xyz));
}

// Applies an override or additive layer to the pose beneath it.
fn joined(beneath: Local, slot: u32, joint: u32) -> Local {
    let cursor = cursors[slot];
    let weight = weight_of(cursor, joint);
    if kind_of(cursor) == MERGE || weight == 0.0 {
        return beneath;
    }
    return joined_by(beneath, local_of(slot, joint), kind_of(cursor), weight);
}

fn joined_by(beneath: Local, pose: Local, kind: u32, weight: f32) -> Local {
    if kind == OVERRIDE {
        let signed = shorter(beneath.rotation, pose.rotation, weight);
        return Local(
            normalize((1.0 - weight) * beneath.rotation + signed * pose.rotation),
            mix(beneath.translation, pose.translation, weight),
            mix(beneath.scale, pose.scale, weight),
        );
    }
    let whole = vec4f(0.0, 0.0, 0.0, 1.0 - weight);
    let rotation = whole + select(weight, -weight, pose.rotation.w < 0.0) * pose.rotation;
    return Local(
        normalize(product(rotation, beneath.rotation)),
        beneath.translation + weight * pose.translation,
        beneath.scale * (1.0 + weight * (pose.scale - 1.0)),
    );
}

// The new pose plus the remaining difference of an inertial fade from the old one.
fn carried(reached: Local, player: Player, first_slot: u32, momentum: Momentum, joint: u32) -> Local {
    let now = off(first_slot + player.layers, momentum, joint);
    let before = off(first_slot + player.layers + 1u, momentum, joint);
    // Both differences must be in one hemisphere; otherwise their change would take the longer arc.
    let change = now.rotation - shorter(now.rotation, before.rotation, 1.0) * before.rotation;
    let whole = vec4f(0.0, 0.0, 0.0, 1.0);
    let rotation = whole + momentum.offset * (now.rotation - whole) + momentum.speed * change;
    return Local(
        normalize(product(rotation, reached.rotation)),
        reached.translation + momentum.offset * now.translation + momentum.speed * (now.translation - before.translation),
        reached.scale + momentum.offset * now.scale + momentum.speed * (now.scale - before.scale),
    );
}

// The old pose minus the new one, both before the fade began, at every second slot from `first` on: the rotation from
// new to old, then differences.
fn off(first: u32, momentum: Momentum, joint: u32) -> Local {
    let fading = first + 2u * momentum.layer;
    var without = merged(first, 2u, momentum.layer, joint);
    for (var layer = 0u; layer < momentum.layer; layer++) {
        without = joined(without, first + 2u * layer, joint);
    }
    let whole = joined(without, fading, joint);
    var old = whole;
    var reached = without;
    if momentum.coming == 1u {
        old = without;
        reached = whole;
    }
    let rotation = product(old.rotation, vec4f(-reached.rotation.xyz, reached.rotation.w));
    return Local(select(rotation, -rotation, rotation.w < 0.0), old.translation - reached.translation, old.scale - reached.scale);
}
