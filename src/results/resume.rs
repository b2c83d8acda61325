//! Repair of the result files of an interrupted sweep, so that the next measurement can append to them.

use super::bounds::MOST_PLAIN;
use super::{bytes_of, write_file};
use crate::asset::regular_file;
use crate::frame::{Clock, Stage};
use csv::StringRecord;
use std::collections::HashSet;
use std::fs;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Columns that identify a backend's rows in both files.
const GROUP: [&str; 4] = ["run_id", "scene", "backend", "variant"];

/// Most bytes of a heading that are read.
const MOST_HEADING: u64 = 1 << 16;
/// Most columns that an error names.
const LISTED: usize = 3;

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

/// Removes incomplete rows after the end of a process. A backend's rows are complete if its `frame` by the wall clock,
/// which is written last, is there. Complete files are not touched. A file that is [`foreign`] must not come here.
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
    let mut table = Table::read(&summary)?;
    let (stage, clock) = (table.column("stage"), table.column("clock"));
    let is = |row: &StringRecord, at: Option<usize>, name| at.and_then(|at| row.get(at)) == Some(name);
    let ends = |row: &&StringRecord| is(row, stage, Stage::Frame.name()) && is(row, clock, Clock::Wall.name());
    let whole: HashSet<Vec<String>> = table.rows.iter().filter(ends).map(|row| table.group(row)).collect();
    table.keep(&whole, &summary)?;
    if is_cut(&samples)? {
        fs::remove_file(samples)?;
    } else if samples.exists() {
        Table::read(&samples)?.keep(&whole, &samples)?;
    }
    Ok(())
}

struct Table {
    headers: StringRecord,
    rows: Vec<StringRecord>,
    /// `true` if a line was cut off.
    cut: bool,
}

impl Table {
    fn read(path: &Path) -> io::Result<Self> {
        let bytes = bytes_of(path, MOST_PLAIN)?;
        let ends = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let text = String::from_utf8_lossy(&bytes[..ends]);
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
        let headers = reader.headers().map_err(io::Error::from)?.clone();
        let all: Vec<StringRecord> = reader.records().collect::<Result<_, _>>().map_err(io::Error::from)?;
        let count = all.len();
        let rows: Vec<_> = all.into_iter().filter(|row| row.len() == headers.len()).collect();
        Ok(Self { cut: ends < bytes.len() || rows.len() < count, headers, rows })
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.headers.iter().position(|header| header == name)
    }

    fn group(&self, row: &StringRecord) -> Vec<String> {
        GROUP.iter().map(|name| self.column(name).and_then(|at| row.get(at)).unwrap_or_default().into()).collect()
    }

    /// Rewrites the file with the rows of complete groups, if it has any others.
    fn keep(&mut self, whole: &HashSet<Vec<String>>, path: &Path) -> io::Result<()> {
        let before = self.rows.len();
        let rows = std::mem::take(&mut self.rows);
        self.rows = rows.into_iter().filter(|row| whole.contains(&self.group(row))).collect();
        if self.rows.len() == before && !self.cut {
            return Ok(());
        }
        write_file(path, |file| {
            let mut writer = csv::Writer::from_writer(file);
            writer.write_record(&self.headers)?;
            self.rows.iter().try_for_each(|row| writer.write_record(row))?;
            writer.flush()
        })
    }
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
    fn files_cut_in_their_headings_are_begun_again() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("summary.csv"), "run_id,sce").unwrap();
        fs::write(folder.path().join("samples.csv"), "run").unwrap();
        mend(folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        mend(folder.path()).unwrap();
    }
}
