//! The header that is checked in is the one that cbindgen makes of the source.

use std::path::Path;

#[test]
fn the_header_is_that_of_the_source() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let config = cbindgen::Config::from_file(folder.join("cbindgen.toml")).unwrap();
    let mut builder = cbindgen::Builder::new().with_config(config);
    for file in ["status", "skin", "pose"] {
        builder = builder.with_src(folder.join("src").join(file).with_extension("rs"));
    }
    let mut header = Vec::new();
    builder.generate().unwrap().write(&mut header);
    let header = String::from_utf8(header).unwrap();
    snapbox::assert_data_eq!(header, snapbox::file!["../include/skinbench.h"]);
}
