//! Limits of a device beside those of the processor.

use skinbench::backend::Context;
use skinbench::frame::{DeviceBandwidth, UploadBandwidth};
use skinbench::harness::environment::{Build, Environment};
use skinbench::harness::limits::Bandwidth;
use skinbench::harness::{DeviceLimits, Host, MachineLimits};
use skinbench::report::run_table;
use skinbench::results::{LimitedMemory, LimitsRow};
use skinbench::simd::Isa;

fn machine() -> MachineLimits {
    let bandwidth = Bandwidth {
        write: 12.9e9,
        stream: 18.5e9,
        read: 23.2e9,
    };
    MachineLimits {
        hosts: vec![Host {
            threads: 1,
            lanes: 16,
            bytes: 64 << 20,
            bandwidth,
            fma: 86.1e9,
        }],
        device: Some(DeviceLimits {
            memory: DeviceBandwidth {
                bytes: 1 << 30,
                write: 3_254_000_000_000,
                read: 3_100_000_000_000,
                copy: 3_006_000_000_000,
            },
            upload: UploadBandwidth {
                bytes: 64 << 20,
                threads: 16,
                write_by_one: 10_700_000_000,
                write_by_all: 48_000_000_000,
                copy: 394_000_000_000,
            },
        }),
    }
}

#[test]
fn a_devices_limits_stand_below_those_of_the_processor_and_in_the_file() {
    let limits = machine();
    assert_eq!(
        run_table::limits_text(&limits),
        "limits, 1 thread: 12.9 GB/s written, 18.5 streamed, 23.2 read (64 MiB); 86.1 G multiply-adds/s\n\
         limits, device: 3254.0 GB/s written, 3100.0 read, 3006.0 read and written by copying (1024 MiB)\n\
         limits, upload: 10.7 GB/s staged by 1 thread, 48.0 by 16 threads; 394.0 copied (64 MiB)\n"
    );
    let environment = Environment::collect(Build::default(), &Context::default());
    let rows = LimitsRow::all(&environment, "smoke", Isa::Scalar, &limits);
    let figures: Vec<_> = rows
        .iter()
        .map(|row| {
            (
                row.memory,
                row.threads,
                row.write / 1_000_000,
                row.copy / 1_000_000,
            )
        })
        .collect();
    assert_eq!(
        figures,
        [
            (LimitedMemory::Host, 1, 12_900, 0),
            (LimitedMemory::Device, 0, 3_254_000, 3_006_000),
            (LimitedMemory::Upload, 1, 10_700, 394_000),
            (LimitedMemory::Upload, 16, 48_000, 394_000),
        ]
    );
    let mut file = csv::Writer::from_writer(Vec::new());
    for row in &rows {
        file.serialize(row).unwrap();
    }
    let text = file.into_inner().unwrap();
    let read: Vec<LimitsRow> = csv::Reader::from_reader(&text[..])
        .deserialize()
        .map(Result::unwrap)
        .collect();
    assert_eq!(read, rows);
    let older =
        "run_id,scene,isa,threads,lanes,bytes,write,stream,read,fma\nr.1,s,avx2,2,8,4,5,6,7,8\n";
    let older: LimitsRow = csv::Reader::from_reader(older.as_bytes())
        .deserialize()
        .next()
        .unwrap()
        .unwrap();
    assert_eq!((older.memory, older.fma), (LimitedMemory::Host, 8));
}
