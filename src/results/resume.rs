//! Repair of the result files of an interrupted sweep, so that the next measurement can append to them.

use super::bounds::MOST_PLAIN;
use super::bytes_of;
use crate::asset::regular_file;
use crate::frame::{Clock, Stage};
use csv::ByteRecord;
use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Columns that identify a backend's rows in both files.
const OWNER: [&str; 4] = ["run_id", "scene", "backend", "variant"];

/// Most bytes of a heading that are read.
const MOST_HEADING: u64 = 1 << 16;
/// Most columns that an error names.
const LISTED: usize = 3;

/// The fields of a row by their columns. They are not parsed, so that no row is cut off for what is in it.
type Row<'a> = HashMap<&'a [u8], &'a [u8]>;

/// The reason why rows under a heading cannot be appended to a file, if there is one. A file may be missing, or cut
/// off in its heading.
///
/// # Errors
/// A file that cannot be read.
pub fn foreign(file: &Path, heading: &str) -> io::Result<Option<String>> {
    if !file.try_exists()? {
        return Ok(None);
    }
    let mut bytes = Vec::new();
    BufReader::new(regular_file::open(file)?)
        .take(MOST_HEADING)
        .read_until(b'\n', &mut bytes)?;
    if !bytes.ends_with(b"\n") && format!("{heading}\n").as_bytes().starts_with(&bytes) {
        return Ok(None);
    }
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let found = reader.byte_headers().map_err(io::Error::from)?;
    if bytes.ends_with(b"\n") && found.iter().eq(heading.split(',').map(str::as_bytes)) {
        return Ok(None);
    }
    let lacking: Vec<_> = heading
        .split(',')
        .filter(|name| !found.iter().any(|h| h == name.as_bytes()))
        .collect();
    let what = match lacking.len() {
        // More columns, or another order.
        0 => "its columns are not those of this skinbench".into(),
        1..=LISTED => format!("it has no column {}", lacking.join(", ")),
        count => format!(
            "it has no column {} and {} more",
            lacking[..LISTED].join(", "),
            count - LISTED
        ),
    };
    Ok(Some(what))
}

fn field<'a>(row: &Row<'a>, column: &str) -> &'a [u8] {
    row.get(column.as_bytes()).copied().unwrap_or_default()
}

/// The fields that identify the backend of a row.
fn owner(row: &Row) -> [Vec<u8>; OWNER.len()] {
    OWNER.map(|column| field(row, column).to_vec())
}

fn is_frame(row: &Row) -> bool {
    field(row, "stage") == Stage::Frame.name().as_bytes()
        && field(row, "clock") == Clock::Wall.name().as_bytes()
}

/// Cuts off the incomplete rows after the end of a process. They stand at the end, because a backend's rows are written
/// in one piece. They are complete if its `frame` by the wall clock, which is written last, is there. Complete files are
/// not touched. A file that is [`foreign`] must not come here.
///
/// # Errors
/// A file that cannot be read or written, or that is no CSV.
pub fn mend(folder: &Path) -> io::Result<()> {
    let mut whole = HashSet::new();
    cut_behind(&folder.join("summary.csv"), |row| {
        if is_frame(row) {
            whole.insert(owner(row));
        }
        whole.contains(&owner(row))
    })?;
    // Samples are written before the summary's rows: those without a row there are not complete.
    cut_behind(&folder.join("samples.csv"), |row| {
        whole.contains(&owner(row))
    })
}

/// Cuts a file off behind the last of its rows that `is_whole`, and empties one whose heading is cut off. There may be no
/// file.
fn cut_behind(path: &Path, mut is_whole: impl FnMut(&Row) -> bool) -> io::Result<()> {
    if !path.exists() {
        return Ok(());
    }
    let bytes = bytes_of(path, MOST_PLAIN)?;
    let mut reader = csv::ReaderBuilder::new()
        .flexible(true)
        .from_reader(&bytes[..]);
    let headers = reader.byte_headers()?.clone();
    let mut end = line_end(&bytes, reader.position()).unwrap_or(0);
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record)? {
        if let Some(at) = line_end(&bytes, reader.position())
            && record.len() == headers.len()
            && is_whole(&headers.iter().zip(&record).collect())
        {
            end = at;
        }
    }
    if end < bytes.len() {
        fs::OpenOptions::new()
            .write(true)
            .open(path)?
            .set_len(end as u64)?;
    }
    Ok(())
}

/// The end of the line that was just read, if the line has one. The reader stops between the two characters that end a
/// line on Windows.
fn line_end(bytes: &[u8], position: &csv::Position) -> Option<usize> {
    let at = position.byte() as usize;
    let at = at + usize::from(bytes[at..].starts_with(b"\n"));
    bytes[..at].ends_with(b"\n").then_some(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SUMMARY: &str = "run_id,scene,backend,variant,stage,clock,median_ns\n";
    const SAMPLES: &str = "run_id,scene,backend,variant,stage,clock,frame,ns\n";

    fn mended(summary: &str, samples: &str) -> (String, String) {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("summary.csv"), summary).unwrap();
        fs::write(path("samples.csv"), samples).unwrap();
        mend(folder.path()).unwrap();
        let read = |name: &str| fs::read_to_string(path(name)).unwrap();
        (read("summary.csv"), read("samples.csv"))
    }

    #[test]
    fn backends_without_a_frame_are_left_out() {
        let whole = "r.1,s,cpu,,skin,wall,5\nr.1,s,cpu,,frame,wall,9\n";
        let samples = "r.1,s,cpu,,skin,wall,0,5\nr.1,s,cpu,,frame,wall,0,9\n";
        for (more, more_samples) in [
            ("", "r.1,s,gpu,,skin,wall,0,7\n"),
            (
                "r.1,s,gpu,,skin,wall,7\n",
                "r.1,s,gpu,,skin,wall,0,7\nr.1,s,gp",
            ),
            (
                "r.1,s,gpu,,frame,thread_sum,7\n",
                "r.1,s,gpu,,frame,thread_sum,0,7\n",
            ),
            ("r.1,s,gpu,,frame,wall,1", ""),
            ("r.1,s,gpu", "r.1"),
        ] {
            let (summary, kept) = mended(
                &format!("{SUMMARY}{whole}{more}"),
                &format!("{SAMPLES}{samples}{more_samples}"),
            );
            assert_eq!(summary, format!("{SUMMARY}{whole}"), "{more:?}");
            assert_eq!(kept, format!("{SAMPLES}{samples}"), "{more_samples:?}");
        }
    }

    #[test]
    fn complete_rows_stay() {
        let rows = [
            "r.1,s,peer,,throughput,wall,6",
            "r.1,s,cpu,,frame,wall,9",
            "r.1,s,cpu,,frame,thread_sum,8",
            "r.1,s,gpu,,of another version,wall,\"7\"",
            "r.1,s,gpu,,frame,wall,9",
        ];
        for end in ["\n", "\r\n"] {
            let lines = |heading: &str, rows: &[&str]| {
                format!("{}{end}{}{end}", heading.trim_end(), rows.join(end))
            };
            let summary = lines(SUMMARY, &rows);
            let samples = lines(
                SAMPLES,
                &[
                    "r.1,s,cpu,,frame,wall,0,9",
                    "r.1,s,gpu,,of another version,wall,0,7",
                ],
            );
            let whole = (summary.clone(), samples.clone());
            assert_eq!(mended(&summary, &samples), whole);
            assert_eq!(
                mended(
                    &(summary + "r.1,s,new"),
                    &(samples + "r.1,s,new,,skin,wall,0,5" + end)
                ),
                whole
            );
        }
    }

    #[test]
    fn files_cut_in_their_headings_are_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        mend(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        for samples in ["", "run", SAMPLES] {
            assert_eq!(mended("run_id,sce", samples).0, "", "{samples:?}");
        }
        assert_eq!(mended("run_id,sce", "run"), (String::new(), String::new()));
    }
}
