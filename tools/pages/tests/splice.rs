//! Pages with results between their markers.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn fixture() -> PathBuf {
    root().join("tests/fixtures/sweep")
}

/// A copy of the fixed results, with each file changed.
fn changed(change: impl Fn(&str, String) -> String) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for name in ["summary.csv", "samples.csv"] {
        let text = fs::read_to_string(fixture().join(name)).unwrap();
        fs::write(folder.path().join(name), change(name, text)).unwrap();
    }
    folder
}

fn pages(folder: &Path, arguments: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pages"));
    command
        .args(arguments.split_whitespace())
        .current_dir(folder);
    command
}

#[test]
fn pages_are_spliced_and_drift_is_found() {
    let folder = changed(|_, text| text);
    let page = folder.path().join("page.md");
    let text = "# T\n<!-- table . -->\nold\n<!-- /table -->\nkept\n<!-- charts . frame-instances -->\n<!-- /charts -->\n";
    fs::write(&page, text).unwrap();
    let exit = |arguments: &str| {
        pages(folder.path(), arguments)
            .output()
            .unwrap()
            .status
            .code()
    };
    assert_eq!(exit("--check page.md"), Some(1));
    assert_eq!(
        fs::read_to_string(&page).unwrap(),
        text,
        "checking writes nothing"
    );
    fs::create_dir_all(folder.path().join("docs/images")).unwrap();
    assert_eq!(exit("page.md"), Some(0));
    let spliced = fs::read_to_string(&page).unwrap();
    assert!(
        spliced.contains("| cpu-rayon | ")
            && spliced.contains("\nkept\n")
            && !spliced.contains("old"),
        "{spliced}"
    );
    assert_eq!(
        spliced.matches("](docs/images/frame-instances-").count(),
        3,
        "{spliced}"
    );
    assert_eq!(exit("--check page.md"), Some(0));
    let picture = folder
        .path()
        .join("docs/images/frame-instances-walkers-1-pass.svg");
    fs::write(&picture, "drifted").unwrap();
    assert_eq!(exit("--check page.md"), Some(1));
    for (text, problem) in [
        ("nothing", "page.md: no marker such as"),
        ("<!-- table -->", "line 1: a marker without its source"),
        (
            "<!-- table . -->",
            "line 1: no <!-- /table --> after this marker",
        ),
        (
            "<!-- table . -->\nkept\n<!-- limits . -->\n<!-- /limits -->\n<!-- table . -->\n<!-- /table -->",
            "line 1: no <!-- /table --> after this marker",
        ),
        (
            "<!-- tabel . -->\n<!-- /table -->",
            "line 2: <!-- /table --> ends nothing; expected <!-- table ... -->",
        ),
        (
            "<!-- table . -->\nkept\n<!-- /limits -->\n<!-- /table -->",
            "line 1: no <!-- /table --> after this marker",
        ),
        (
            "<!-- tabel . -->\n<!-- /tabel -->\n<!-- table . -->\n<!-- /table -->",
            "line 1: unknown kind of marker \"tabel\"; did you mean \"table\"?",
        ),
        (
            "<!-- text page.md -->\n<!-- /text -->",
            "line 1: page.md contains a marker, <!-- text page.md -->",
        ),
        (
            "<!-- text page.md a b -->\n<!-- /text -->",
            "line 1: text takes other arguments",
        ),
        (
            "<!-- text none.md -->\n<!-- /text -->",
            "line 1: cannot read none.md",
        ),
        (
            "<!-- charts . pie -->\n<!-- /charts -->",
            "line 1: no such chart; expected the start of frame-",
        ),
    ] {
        fs::write(&page, text).unwrap();
        let output = pages(folder.path(), "page.md").output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(1) && messages.contains(problem),
            "{text}: {messages}"
        );
        assert_eq!(fs::read_to_string(&page).unwrap(), text);
    }
    for (arguments, problem) in [
        ("missing.md", "missing.md: cannot read: "),
        ("--chekc page.md", "unknown option --chekc; usage: "),
    ] {
        let output = pages(folder.path(), arguments).output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        assert!(
            output.status.code() == Some(1) && messages.contains(problem),
            "{arguments}: {messages}"
        );
    }
    // Charts of two folders have one name.
    let renamed = |_: &str, text: String| text.replace(",cpu-scalar,", ",cpu-simd,");
    let other = changed(renamed);
    let charts =
        |source: &str| format!("<!-- charts {source} frame-instances -->\n<!-- /charts -->\n");
    fs::write(
        &page,
        charts(".") + &charts(&other.path().display().to_string()),
    )
    .unwrap();
    let output = pages(folder.path(), "page.md").output().unwrap();
    let messages = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1)
            && messages.contains("line 3: another marker draws a different "),
        "{messages}"
    );
}

#[test]
fn chosen_figures_are_spliced() {
    let folder = tempfile::tempdir().unwrap();
    let of_crowd = |text: String, crowd: &str| -> String {
        let (heading, rows) = text.split_once('\n').unwrap();
        let rows = rows
            .lines()
            .filter(|row| row.contains(&format!(",0{crowd},")) && row.contains(",pn,,0,,"));
        std::iter::once(heading)
            .chain(rows)
            .map(|line| format!("{line}\n"))
            .collect()
    };
    for (run, crowd) in [
        ("few", "000000000000064,100"),
        ("again", "000000000000064,100"),
        ("many", "0000000000003e8,1000"),
    ] {
        let part = changed(|name, text| {
            if name == "summary.csv" {
                of_crowd(text, crowd)
            } else {
                text
            }
        });
        fs::create_dir(folder.path().join(run)).unwrap();
        for file in ["summary.csv", "samples.csv"] {
            fs::copy(part.path().join(file), folder.path().join(run).join(file)).unwrap();
        }
    }
    let limits = "run_id,scene,isa,threads,lanes,bytes,write,stream,read,fma\nr,walkers,avx2,1,8,64,1000000000,2500000000,3000000000,16000000000\n";
    fs::write(folder.path().join("many/limits.csv"), limits).unwrap();
    fs::write(folder.path().join("said.txt"), "one: 1\ntwo: 2\n").unwrap();
    let page = folder.path().join("page.md");
    let spliced = |marker: &str| {
        let kind = marker.split(' ').next().unwrap();
        fs::write(&page, format!("<!-- {marker} -->\n<!-- /{kind} -->\n")).unwrap();
        let output = pages(folder.path(), "page.md").output().unwrap();
        let messages = String::from_utf8(output.stderr).unwrap();
        if output.status.success() {
            fs::read_to_string(&page).unwrap()
        } else {
            messages
        }
    };
    let all = fixture().display().to_string();
    for (marker, expected) in [
        (
            "table many sample skin@vertex cpu-scalar/skin pose/cpu-rayon",
            "| `gpu-compute` | 1.50 | 2.52 | 16.00 | 1.00 |",
        ),
        ("table many skin/c*", "| `cpu-scalar` | 4.43 |"),
        (
            "runs . few,many cpu-rayon skin@vertex pose@joint limit parity visible clip_error",
            "| `few` | 9.26 | 44.78 | 6 | 3.2e-7 | all | - |",
        ),
        (
            "matrix . few,many frame c*",
            "| `cpu-rayon` | 1.32 | 12.1 |",
        ),
        (
            "sizes . 900 few,again,many cpu-rayon",
            "| `skin` | 100 x 990 `few` | 100 x 990 `again` | 1,000 x 990 |",
        ),
        (
            "sizes . 900 many cpu-rayon",
            "\nIn brackets: percent of what the run reached.\n",
        ),
        (
            "sizes . 900 many gpu-compute",
            "\nIn brackets: percent of 900 GB/s.\n",
        ),
        (
            "sizes . 900 many *",
            "\nIn brackets: percent of 900 GB/s; on the processor, of what the run reached.\n",
        ),
        (
            &*format!("sweep {all} instances frame c*"),
            "| `cpu-rayon` | 0.24 | 1.32 | 12.1 |",
        ),
        (
            &*format!("sweep {all} instances dispatches gpu-compute"),
            "| `gpu-compute` | 1 | 1 | 1 |",
        ),
        (
            "sweep many models frame",
            "line 1: the results do not vary in models",
        ),
        (
            "sweep many modles frame",
            "line 1: unknown axis \"modles\"; did you mean \"models\"?",
        ),
        ("limits many", "| 1 | 1.0 | 2.5 | 3.0 | 16.0 |"),
        (
            "peak . many many/cpu-rayon=20",
            "| many: `cpu-rayon` | 20.0 | 10.00 | 9.07 | 110 |",
        ),
        ("text said.txt two", "-->\n- two: 2\n<!--"),
        (
            "table many smaple",
            "line 1: unknown figure \"smaple\"; did you mean \"sample\"?",
        ),
        (
            "table many skin@bone",
            "line 1: unknown figure \"skin@bone\";",
        ),
        ("table many a/b", "line 1: unknown figure \"a\";"),
        (
            "runs . few,none cpu-rayon skin",
            "none: no such file or folder",
        ),
        (
            "runs . few gpu-none skin",
            "few: unknown backend \"gpu-none\"",
        ),
        ("runs . few", "line 1: runs takes other arguments"),
        (
            "peak . many many/cpu-rayon",
            "\"many/cpu-rayon\": expected RUN/BACKEND=OPERATIONS",
        ),
        ("limits few", "few/limits.csv: "),
    ] {
        let spliced = spliced(marker);
        assert!(spliced.contains(expected), "{marker}: {spliced}");
    }
}

#[test]
fn the_repositorys_pages_have_not_drifted() {
    let output = pages(&root(), "--check").output().unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
