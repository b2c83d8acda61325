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
    let Some(bytes) = first_line(file)? else { return Ok(None) };
    if !bytes.ends_with(b"\n") && format!("{heading}\n").as_bytes().starts_with(&bytes) {
        return Ok(None);
    }
    let mut reader = csv::Reader::from_reader(&bytes[..]);
    let found = reader.byte_headers().map_err(io::Error::from)?;
    if bytes.ends_with(b"\n") && found.iter().eq(heading.split(',').map(str::as_bytes)) {
        return Ok(None);
    }
    let lacking: Vec<_> = heading.split(',').filter(|name| !found.iter().any(|h| h == name.as_bytes())).collect();
    let what = match lacking.len() {
        // More columns, or another order.
        0 => "its columns are not those of this skinbench".into(),
        1..=LISTED => format!("it has no column {}", lacking.join(", ")),
        count => format!("it has no column {} and {} more", lacking[..LISTED].join(", "), count - LISTED),
    };
    Ok(Some(what))
}

/// The first line of a file, with its end if it has one; `None` if there is no file.
fn first_line(file: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = match regular_file::open(file) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut line = Vec::new();
    BufReader::new(file).take(MOST_HEADING).read_until(b'\n', &mut line)?;
    Ok(Some(line))
}

/// Cuts off the incomplete rows after the end of a process. They stand at the end, because a backend's rows are written
/// in one piece. They are complete if its `frame` by the wall clock, which is written last, is there. Complete files are
/// not touched. A file that is [`foreign`] must not come here.
///
/// # Errors
/// A file that cannot be read or written, or that is no CSV.
pub fn mend(folder: &Path) -> io::Result<()> {
    let (summary, samples) = (folder.join("summary.csv"), folder.join("samples.csv"));
    let is_cut = |file: &Path| Ok::<_, io::Error>(first_line(file)?.is_some_and(|line| !line.ends_with(b"\n")));
    // Samples are written before the summary's rows, so without the summary's heading nothing is complete. They go
    // first: samples alone are never left behind.
    if is_cut(&summary)? {
        return [samples, summary].into_iter().filter(|file| file.exists()).try_for_each(fs::remove_file);
    }
    if !summary.exists() {
        return Ok(());
    }
    let field = |row: &Row, column: &str| row.get(column.as_bytes()).copied().unwrap_or_default().to_vec();
    let owner = |row: &Row| OWNER.map(|column| field(row, column));
    let is_frame = |row: &Row| {
        field(row, "stage") == Stage::Frame.name().as_bytes() && field(row, "clock") == Clock::Wall.name().as_bytes()
    };
    let mut whole = HashSet::new();
    cut_behind(&summary, |row| {
        if is_frame(row) {
            whole.insert(owner(row));
        }
        whole.contains(&owner(row))
    })?;
    if is_cut(&samples)? {
        fs::remove_file(samples)
    } else if samples.exists() {
        cut_behind(&samples, |row| whole.contains(&owner(row)))
    } else {
        Ok(())
    }
}

/// Cuts a file off behind the last of its rows that `is_whole`.
fn cut_behind(path: &Path, mut is_whole: impl FnMut(&Row) -> bool) -> io::Result<()> {
    let bytes = bytes_of(path, MOST_PLAIN)?;
    // The reader stops between the two characters that end a line on Windows.
    let behind = |position: &csv::Position| {
        let at = position.byte() as usize;
        at + usize::from(bytes[at..].starts_with(b"\n"))
    };
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(&bytes[..]);
    let headers = reader.byte_headers()?.clone();
    let (mut record, mut end) = (ByteRecord::new(), behind(reader.position()));
    while reader.read_byte_record(&mut record)? {
        let at = behind(reader.position());
        let is_line = record.len() == headers.len() && bytes[..at].ends_with(b"\n");
        if is_line && is_whole(&headers.iter().zip(&record).collect()) {
            end = at;
        }
    }
    if end < bytes.len() {
        fs::OpenOptions::new().write(true).open(path)?.set_len(end as u64)?;
    }
    Ok(())
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
            ("r.1,s,gpu,,skin,wall,7\n", "r.1,s,gpu,,skin,wall,0,7\nr.1,s,gp"),
            ("r.1,s,gpu,,frame,thread_sum,7\n", "r.1,s,gpu,,frame,thread_sum,0,7\n"),
            ("r.1,s,gpu,,frame,wall,1", ""),
            ("r.1,s,gpu", "r.1"),
        ] {
            let (summary, kept) =
                mended(&format!("{SUMMARY}{whole}{more}"), &format!("{SAMPLES}{samples}{more_samples}"));
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
            let lines = |heading: &str, rows: &[&str]| format!("{}{end}{}{end}", heading.trim_end(), rows.join(end));
            let summary = lines(SUMMARY, &rows);
            let samples = lines(SAMPLES, &["r.1,s,cpu,,frame,wall,0,9", "r.1,s,gpu,,of another version,wall,0,7"]);
            let whole = (summary.clone(), samples.clone());
            assert_eq!(mended(&summary, &samples), whole);
            assert_eq!(mended(&(summary + "r.1,s,new"), &(samples + "r.1,s,new,,skin,wall,0,5" + end)), whole);
        }
    }

    #[test]
    fn files_cut_in_their_headings_are_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("summary.csv"), "run_id,sce").unwrap();
        fs::write(folder.path().join("samples.csv"), "run").unwrap();
        mend(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        mend(folder.path()).unwrap();
    }
}
