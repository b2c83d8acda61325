//! Repair of the result files of an interrupted sweep, so that the next measurement can append to them.

use crate::frame::{Clock, Stage};
use csv::StringRecord;
use std::collections::HashSet;
use std::fs;
use std::io::{self, Write};
use std::path::Path;

/// Columns that identify a backend's rows in both files.
const GROUP: [&str; 4] = ["run_id", "scene", "backend", "variant"];

/// Removes incomplete rows after the end of a process. A backend's rows are complete if its `frame` by the wall clock,
/// which is written last, is there. Complete files are not touched.
///
/// # Errors
/// A file that cannot be read or written, or that is no CSV.
pub fn mend(folder: &Path) -> io::Result<()> {
    let (summary, samples) = (folder.join("summary.csv"), folder.join("samples.csv"));
    let table = if summary.exists() { Some(Table::read(&summary)?) } else { None };
    // Samples are written before the summary's rows, so without the summary's heading nothing is complete.
    let Some((mut table, stage)) = table.and_then(|table| table.column("stage").map(|stage| (table, stage))) else {
        return [summary, samples].into_iter().filter(|file| file.exists()).try_for_each(fs::remove_file);
    };
    let clock = table.column("clock");
    let ends = |row: &&StringRecord| {
        row.get(stage) == Some(Stage::Frame.name())
            && clock.is_none_or(|clock| row.get(clock) == Some(Clock::Wall.name()))
    };
    let whole: HashSet<Vec<String>> = table.rows.iter().filter(ends).map(|row| table.group(row)).collect();
    table.keep(&whole, &summary)?;
    if samples.exists() {
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
        let bytes = fs::read(path)?;
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
        let folder = path.parent().unwrap_or(Path::new("."));
        let mut writer = csv::Writer::from_writer(tempfile::NamedTempFile::new_in(folder)?);
        writer.write_record(&self.headers)?;
        self.rows.iter().try_for_each(|row| writer.write_record(row))?;
        let mut file = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
        file.flush()?;
        file.persist(path)?;
        Ok(())
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
