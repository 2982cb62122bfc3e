//! The page in a real browser: every picture is drawn there, with ink of several colours, and is as large as it should be.

use super::figure::Figure;
use super::kept::{self, Kept};
use super::list;
use super::page::Page;
use super::study::{Options, Study};
use crate::case::{Case, Sizes};
use crate::cases;
use crate::machine::Machine;
use crate::results::Row;
use crate::run::Effort;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Names of the browser's program.
const BROWSERS: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
/// A browser on a busy machine takes a minute.
const LIMIT: Duration = Duration::from_secs(300);

/// Draws each picture on a canvas and writes its size on the page, its inked dots and its colours into an attribute of the body.
const LOOK: &str = r#"<script>(async () => {
const seen = [];
for (const svg of document.querySelectorAll("svg")) {
    const box = svg.getBoundingClientRect();
    const image = new Image();
    image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(new XMLSerializer().serializeToString(svg));
    await image.decode();
    const canvas = document.createElement("canvas");
    canvas.width = image.width;
    canvas.height = image.height;
    const on = canvas.getContext("2d");
    on.drawImage(image, 0, 0);
    const dots = on.getImageData(0, 0, canvas.width, canvas.height).data, colours = new Set();
    let ink = 0;
    for (let i = 0; i < dots.length; i += 4) {
        if (dots[i] > 250 && dots[i + 1] > 250 && dots[i + 2] > 250) continue;
        ink++;
        colours.add(dots[i] << 16 | dots[i + 1] << 8 | dots[i + 2]);
    }
    seen.push([Math.round(box.width), Math.round(box.height), ink, colours.size].join(","));
}
document.body.setAttribute("data-seen", seen.join(";"));
})();</script>"#;

/// Made-up values at every place of every series.
fn made_up(case: &Case, quantities: &BTreeSet<&str>) -> Kept {
    let row = |label: &str, x: u64, quantity: &str| {
        let value = 100.0 + x as f64;
        Row::new("ours", label, x, quantity, vec![value, value * 1.1, value * 1.3])
    };
    let places = || case.series.iter().flat_map(|s| case.xs.iter().map(move |x| (s.label.as_str(), *x)));
    let rows = places().flat_map(|(label, x)| quantities.iter().map(move |q| row(label, x, q))).collect();
    Kept {
        key: String::new(),
        case: case.name.to_owned(),
        rounds: 3,
        machine: Machine::none(),
        libraries: vec![("ours".to_owned(), "a library".to_owned())],
        rows,
        over: None,
        model: None,
        whole: true,
        commands: Vec::new(),
    }
}

/// The page of all figures with made-up values, and the number of their pictures.
fn page(folder: &Path) -> (String, usize) {
    let (papers, cases) = (list::all(), cases::all(&Sizes::whole()));
    let figures: Vec<&Figure> = papers.iter().flat_map(|p| &p.figures).collect();
    let views = || figures.iter().flat_map(|f| &f.views);
    let stored = folder.join("stored");
    for view in views() {
        let of_case = views().filter(|v| v.case == view.case);
        let quantities = of_case.flat_map(|v| match &v.bars {
            Some(bars) => bars.quantities.clone(),
            None => vec![v.quantity],
        });
        let case = cases.iter().find(|c| c.name == view.case).expect("a case of a figure");
        kept::write(&stored, case, view.over, &made_up(case, &quantities.collect()))
            .expect("it can be written");
    }
    let effort = Effort { rounds: 1, seconds: 0.0, iterations: Some(1), limit: LIMIT, until: None };
    let share = Duration::from_secs(1);
    let options = Options { out: folder.to_owned(), stored, quick: true, patch: None, effort, share };
    let mut study = Study::new(options, Vec::new()).expect("a fresh folder");
    study.run(&papers).expect("nothing to run");
    (Page::new(&papers, &study, true).html().expect("it can be drawn"), views().count())
}

/// The page as the browser has it after its scripts; `None`: there is no browser.
fn dumped(page: &Path) -> Option<String> {
    let is_there = |name: &&&str| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        std::env::split_paths(&path).any(|folder| folder.join(name).is_file())
    };
    let browser = BROWSERS.iter().find(is_there)?;
    let out = page.with_extension("dump");
    let mut child = Command::new(browser)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=200000", "--dump-dom"])
        .arg(format!("--user-data-dir={}", page.with_extension("profile").display()))
        .arg(format!("file://{}", page.display()))
        .stdin(Stdio::null())
        .stdout(std::fs::File::create(&out).expect("it can be written"))
        .stderr(Stdio::null())
        .spawn()
        .expect("the browser starts");
    let began = Instant::now();
    while child.try_wait().expect("it is ours").is_none() {
        if began.elapsed() > LIMIT {
            let _ = child.kill();
            let _ = child.wait();
            panic!("{browser} has not shown the page after {} s", LIMIT.as_secs());
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    Some(std::fs::read_to_string(&out).expect("it was written"))
}

#[test]
fn a_browser_draws_every_picture() {
    let folder = tempfile::tempdir().expect("a folder");
    let (html, pictures) = page(folder.path());
    assert_eq!(html.matches("</svg>").count(), pictures, "a picture for each view");
    let file = folder.path().join("index.html");
    std::fs::write(&file, html.replace("</body>", &format!("{LOOK}</body>"))).expect("it can be written");
    let Some(dump) = dumped(&file) else {
        eprintln!(
            "left out: a_browser_draws_every_picture: none of {BROWSERS:?} is installed (package chromium)"
        );
        return;
    };
    let seen = dump.split_once("data-seen=\"").and_then(|(_, rest)| rest.split_once('"'));
    let (seen, _) = seen.expect("the script of the page has looked at all pictures");
    let all: Vec<Vec<u64>> =
        seen.split(';').map(|one| one.split(',').filter_map(|n| n.parse().ok()).collect()).collect();
    assert_eq!(all.len(), pictures, "{seen}");
    for one in all {
        // Axes, names and lines: more dots than an empty frame has, and more colours than black on white.
        assert!(
            one[0] >= 600 && one[1] >= 300 && one[2] > 5000 && one[3] > 20,
            "width, height, dots, colours: {one:?}"
        );
    }
}
