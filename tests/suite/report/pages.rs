//! Pages of results, and results in pages.

use super::{changed, fixture, skinbench, unchanged};
use skinbench::report::{chart, html, markdown};
use skinbench::results::recorded::Recorded;
use skinbench::results::study::Study;
use std::fs;
use std::path::Path;

#[test]
fn answers_are_those_of_the_figures() {
    let study = Study::new(Recorded::read(&[fixture()]).unwrap());
    let report = markdown::report(&study);
    for answer in [
        "1,000 walkers (nothing drawn): gpu-compute is fastest",
        "gpu-compute overtakes cpu-rayon at ",
        "1,000 walkers (1 pass): gpu-vertex is fastest",
        " fit a 60 Hz frame on gpu-compute (nothing drawn).",
        "% of this machine's bandwidth: gpu-compute",
        "| gpu-vertex | skipped |",
        "| cpu-scalar | 60.",
    ] {
        assert!(report.contains(answer), "{answer} in {report}");
    }
    // 1.32 and 2.22 ms at 100, 12.12 and 6.00 ms at 1,000: straight lines between their logarithms meet at 266.
    let at = report.split("overtakes cpu-rayon at ").nth(1).unwrap().split(' ').next().unwrap();
    let at: f64 = at.replace(',', "").parse().unwrap();
    assert!((264.0..268.0).contains(&at), "{at}");
}

#[test]
fn the_page_needs_nothing_but_itself() {
    let page = html::page(&Study::of_each_machine(Recorded::read(&[fixture()]).unwrap()));
    assert!(page.contains("Test CPU &lt;&amp;&gt;"), "what results say is escaped");
    assert!(!page.contains("src=") && !page.contains("@import") && !page.contains("url("));
    let outside: Vec<_> = page.match_indices("http").map(|(at, _)| &page[at..at + 26]).collect();
    assert!(outside.iter().all(|text| *text == "http://www.w3.org/2000/svg"), "{outside:?}");
    assert!(page.len() < 400_000, "{}", page.len());
    let study = Study::new(Recorded::read(&[fixture()]).unwrap());
    for chart in chart::charts(&study) {
        assert_eq!(chart.svg.matches("class=\"mark\"").count(), chart.marks, "{}", chart.id);
        assert!(chart.table.len() > 1 && chart.file().contains("prefers-color-scheme:dark"), "{}", chart.id);
    }
}

#[test]
fn pages_are_spliced_and_drift_is_found() {
    let folder = changed(unchanged, unchanged);
    let page = folder.path().join("page.md");
    let text =
        "# T\n<!-- table . -->\nold\n<!-- /table -->\nkept\n<!-- charts . frame-instances -->\n<!-- /charts -->\n";
    fs::write(&page, text).unwrap();
    let exit = |arguments: &str| skinbench(folder.path(), arguments).output().unwrap().status.code();
    assert_eq!(exit("report --splice page.md --check"), Some(1));
    assert_eq!(fs::read_to_string(&page).unwrap(), text, "checking writes nothing");
    fs::create_dir_all(folder.path().join("docs/images")).unwrap();
    assert_eq!(exit("report --splice page.md"), Some(0));
    let spliced = fs::read_to_string(&page).unwrap();
    assert!(
        spliced.contains("| cpu-rayon | ") && spliced.contains("\nkept\n") && !spliced.contains("old"),
        "{spliced}"
    );
    assert_eq!(spliced.matches("](docs/images/frame-instances-").count(), 3, "{spliced}");
    assert_eq!(exit("report --splice page.md --check"), Some(0));
    let picture = folder.path().join("docs/images/frame-instances-walkers-1-pass.svg");
    fs::write(&picture, "drifted").unwrap();
    assert_eq!(exit("report --splice page.md --check"), Some(1));
    for (text, problem) in [
        ("nothing", "page.md: no marker such as"),
        ("<!-- table -->", "line 1: a marker without its source"),
        ("<!-- table . -->", "line 1: no <!-- /table --> after this marker"),
        (
            "<!-- table . -->\nkept\n<!-- limits . -->\n<!-- /limits -->\n<!-- table . -->\n<!-- /table -->",
            "line 1: no <!-- /table --> after this marker",
        ),
        ("<!-- tabel . -->\n<!-- /table -->", "line 2: <!-- /table --> ends nothing; expected <!-- table ... -->"),
        ("<!-- table . -->\nkept\n<!-- /limits -->\n<!-- /table -->", "line 1: no <!-- /table --> after this marker"),
        (
            "<!-- tabel . -->\n<!-- /tabel -->\n<!-- table . -->\n<!-- /table -->",
            "line 1: unknown kind of marker \"tabel\"; did you mean \"table\"?",
        ),
        ("<!-- text page.md -->\n<!-- /text -->", "line 1: page.md contains a marker, <!-- text page.md -->"),
        ("<!-- text page.md a b -->\n<!-- /text -->", "line 1: text takes other arguments"),
        ("<!-- text none.md -->\n<!-- /text -->", "line 1: cannot read none.md"),
        ("<!-- charts . pie -->\n<!-- /charts -->", "line 1: no such chart; expected the start of stages-"),
    ] {
        fs::write(&page, text).unwrap();
        let output = skinbench(folder.path(), "report --splice page.md").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(output.status.code() == Some(1) && said.contains(problem), "{text}: {said}");
        assert_eq!(fs::read_to_string(&page).unwrap(), text);
    }
    // Charts of two folders have one name.
    let renamed = |text: String| text.replace(",cpu-scalar,", ",cpu-simd,");
    let other = changed(renamed, renamed);
    let charts = |source: &str| format!("<!-- charts {source} frame-instances -->\n<!-- /charts -->\n");
    fs::write(&page, charts(".") + &charts(&other.path().display().to_string())).unwrap();
    let output = skinbench(folder.path(), "report --splice page.md").output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && said.contains("line 3: another marker draws a different "), "{said}");
}

#[test]
fn findings_are_of_crowds_that_were_measured_and_say_how() {
    // The rows that a change makes empty are left out.
    let report = |change: &dyn Fn(&[&str], &str) -> String| {
        let edited = |text: String| {
            let heading: Vec<String> = text.lines().next().unwrap().split(',').map(Into::into).collect();
            let at = |name: &str| heading.iter().position(|known| known == name).unwrap();
            let columns = ["backend", "passes", "instances", "attributes", "pct_of_limit"].map(at);
            let line = |line: &str| {
                let fields: Vec<&str> = line.split(',').collect();
                change(&columns.map(|column| fields[column]), line)
            };
            let lines = text.lines().skip(1).map(line).filter(|line| !line.is_empty());
            std::iter::once(heading.join(",")).chain(lines).map(|line| line + "\n").collect::<String>()
        };
        markdown::report(&Study::new(super::read(&changed(edited, unchanged))))
    };
    // Fewer milliseconds at a smaller crowd are no answer.
    let few = report(&|row, line| match row {
        ["cpu-rayon", "0", "1000", ..] => String::new(),
        _ => line.into(),
    });
    assert!(few.contains("More than 1,000 walkers fit a 60 Hz frame on gpu-compute (nothing drawn)."), "{few}");
    let fewer = report(&|row, line| match row {
        ["cpu-rayon", "0", "1000", ..] | ["gpu-compute", "0", ..] => String::new(),
        _ => line.into(),
    });
    assert!(fewer.contains(" fit a 60 Hz frame on cpu-scalar (nothing drawn)."), "{fewer}");

    let noisy = report(&|row, line| match row {
        ["cpu-rayon", "0", "10", _, "5.42"] => line.replace(",5.42,", ",121,"),
        _ => line.into(),
    });
    assert!(noisy.contains("comes to 24 % of this machine's bandwidth: gpu-compute, 1,000 walkers."), "{noisy}");
    let beyond = report(&|_, line| line.replace(",23.86,", ",121,"));
    assert!(beyond.contains("121 % of this machine's bandwidth: gpu-compute, 1,000 walkers. More than"), "{beyond}");

    let packed = report(&|_, line| line.replace(",pn,,", ",p,output=packed,"));
    for said in [
        "1,000 walkers (nothing drawn, output=packed, attributes=p): gpu-compute",
        "## 1,000 walkers, 1 pass, output=packed, attributes=p",
        "walkers (nothing drawn, output=packed, attributes=p); 95 % certain",
        "on gpu-compute (nothing drawn, output=packed, attributes=p).",
    ] {
        assert!(packed.contains(said), "{said} in {packed}");
    }
    let mixed = changed(|text| text.clone() + text.replace(",pn,,", ",p,,").split_once('\n').unwrap().1, unchanged);
    let charts = chart::charts(&Study::new(super::read(&mixed)));
    let ids: Vec<&str> = charts.iter().map(|chart| chart.id.as_str()).collect();
    for id in ["frame-instances-walkers-1-pass-attributes-p", "frame-instances-walkers-1-pass-attributes-pn"] {
        assert!(ids.contains(&id), "{ids:?}");
    }
}

#[test]
fn chosen_figures_are_spliced() {
    let folder = tempfile::tempdir().unwrap();
    let of_crowd = |text: String, crowd: &str| -> String {
        let (heading, rows) = text.split_once('\n').unwrap();
        let rows = rows.lines().filter(|row| row.contains(&format!(",0{crowd},")) && row.contains(",pn,,0,,"));
        std::iter::once(heading).chain(rows).map(|line| format!("{line}\n")).collect()
    };
    for (run, crowd) in [("few", "000000000000064,100"), ("many", "0000000000003e8,1000")] {
        let part = changed(|text| of_crowd(text, crowd), unchanged);
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
        let output = skinbench(folder.path(), "report --splice page.md").output().unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        if output.status.success() { fs::read_to_string(&page).unwrap() } else { said }
    };
    let all = fixture().display().to_string();
    for (marker, expected) in [
        (
            "table many sample skin@vertex cpu-scalar/skin pose/cpu-rayon",
            "| `gpu-compute` | 1.50 ms | 2.52 | 16.00 | 1.00 |",
        ),
        ("table many skin/c*", "| `cpu-scalar` | 4.43 |"),
        (
            "runs . few,many cpu-rayon skin@vertex pose@joint limit parity visible clip_error",
            "| `few` | 9.26 | 44.78 | 6 | 3.2e-7 | all | - |",
        ),
        ("matrix . few,many frame c*", "| `cpu-rayon` | 1.32 ms | 12.1 ms |"),
        (&*format!("sweep {all} instances frame c*"), "| `cpu-rayon` | 0.24 ms | 1.32 ms | 12.1 ms |"),
        (&*format!("sweep {all} instances dispatches gpu-compute"), "| `gpu-compute` | 1 | 1 | 1 |"),
        ("sweep many models frame", "line 1: the results do not vary in models"),
        ("sweep many modles frame", "line 1: unknown axis \"modles\"; did you mean \"models\"?"),
        ("limits many", "| 1 | 1.0 | 2.5 | 3.0 | 16.0 |"),
        ("peak . many many/cpu-rayon=20", "| many: `cpu-rayon` | 20.0 | 10.00 | 9.07 | 110 |"),
        ("text said.txt two", "-->\n- two: 2\n<!--"),
        ("table many smaple", "line 1: unknown figure \"smaple\"; did you mean \"sample\"?"),
        ("table many skin@bone", "line 1: unknown figure \"skin@bone\";"),
        ("table many a/b", "line 1: unknown figure \"a\";"),
        ("runs . few,none cpu-rayon skin", "none: cannot read: "),
        ("runs . few gpu-none skin", "few: unknown backend \"gpu-none\""),
        ("runs . few", "line 1: runs takes other arguments"),
        ("peak . many many/cpu-rayon", "\"many/cpu-rayon\": expected RUN/BACKEND=OPERATIONS"),
        ("limits few", "few/limits.csv: "),
    ] {
        let spliced = spliced(marker);
        assert!(spliced.contains(expected), "{marker}: {spliced}");
    }
}

#[test]
fn the_ending_or_the_format_decides_what_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let run = |arguments: &str| {
        let output = skinbench(folder.path(), &format!("report {} {arguments}", fixture().display())).output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap())
    };
    assert!(run("").1.starts_with("<!DOCTYPE html>"));
    assert!(run("--format md").1.starts_with("# Skinning on Test CPU"));
    assert_eq!(run("-o out.md").0, Some(0));
    assert!(fs::read_to_string(folder.path().join("out.md")).unwrap().starts_with("# Skinning"));
    assert_eq!(run("--format svg -o charts").0, Some(0));
    assert_eq!(fs::read_dir(folder.path().join("charts")).unwrap().count(), 16);
    let (code, _, said) = run("--format svg");
    assert!(code == Some(2) && said.contains("name a folder with -o"), "{said}");
}

/// The pages of this repository say what its results say.
#[test]
fn the_repositorys_pages_have_not_drifted() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages = [
        "README.md",
        "docs/animation.md",
        "docs/choosing.md",
        "docs/cpu.md",
        "docs/crowds.md",
        "docs/engines.md",
        "docs/gpu.md",
    ];
    let arguments = pages.map(|page| format!("--splice {page}")).join(" ");
    skinbench(root, &format!("report {arguments} --check")).assert().success();
}
