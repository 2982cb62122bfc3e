//! All papers, and the choice of figures by their names.

use super::figure::{Figure, Paper};
use super::{endpoints, fuzzy_matching, one_sided, scalable, threads};

/// The five papers in order.
pub fn all() -> Vec<Paper> {
    vec![endpoints::paper(), one_sided::paper(), threads::paper(), fuzzy_matching::paper(), scalable::paper()]
}

/// The name of a figure on the command line and on the page.
pub fn name(paper: &Paper, figure: &Figure) -> String {
    format!("{}-{}", paper.key, figure.id)
}

/// The papers with those of their figures that are named: by the paper (`002`), the figure (`002-fig5.2a`, `fig5.2a`), or the beginning of one
/// (`fig5.2`); all without a name.
///
/// # Errors
/// The name that fits nothing.
pub fn chosen(names: &[String]) -> Result<Vec<Paper>, String> {
    let all = all();
    let whole =
        |name: &str| all.iter().any(|p| p.figures.iter().any(|f| f.id == name || self::name(p, f) == name));
    let fits = |paper: &Paper, figure: &Figure, given: &str| {
        let full = name(paper, figure);
        match whole(given) {
            true => figure.id == given || full == given,
            false => paper.key == given || full.starts_with(given) || figure.id.starts_with(given),
        }
    };
    let known = |given: &&String| !all.iter().any(|p| p.figures.iter().any(|f| fits(p, f, given)));
    if let Some(unknown) = names.iter().find(known) {
        return Err(format!(
            "no paper has a figure {unknown}; papers are 000 to 004, figures as 002-fig5.2a"
        ));
    }
    let mut papers = Vec::new();
    for paper in &all {
        let wanted = |f: &&Figure| names.is_empty() || names.iter().any(|given| fits(paper, f, given));
        let figures: Vec<Figure> = paper.figures.iter().filter(wanted).cloned().collect();
        if !figures.is_empty() {
            papers.push(Paper { figures, ..paper.clone() });
        }
    }
    Ok(papers)
}

#[cfg(test)]
mod tests {
    use super::super::figure::Selection;
    use super::*;
    use crate::case::{Case, Sizes};
    use std::collections::HashSet;

    /// Figures and tables of each paper, by the numbers in its captions.
    const CAPTIONS: [(&str, &str); 5] = [
        ("000", "fig1 fig2 fig3 fig4 fig5 fig6 fig7a fig7b table1 fig8 fig9"),
        ("001", "table1 table2 table3 table4 table5 fig1a-d fig1e fig1f fig2"),
        (
            "002",
            "fig2.1 fig2.2 fig2.3 fig2.4 fig2.5 fig3.1 fig3.2 fig3.3 fig3.4 fig3.5 fig3.6 fig3.7 fig3.8 fig3.9 fig3.10 fig3.11 fig3.12 fig3.13 \
             fig3.14 fig3.15 fig3.16 fig4.1 fig4.2 fig4.3 fig4.4 fig4.5 fig4.6 table4.1 fig4.7 fig4.8 fig5.1 table5.1 fig5.2a fig5.2b fig5.2c \
             fig5.3a fig5.3b fig5.3c table5.2 fig5.4 fig5.5",
        ),
        ("003", "fig1 fig2 table1 fig3 fig4 table2 fig5 fig6 fig7 fig8"),
        (
            "004",
            "fig1 fig2a fig2b fig3 fig4 fig5 fig6 fig7 fig8 fig9 fig10 fig11 fig12 fig13 fig14 fig15 fig16 fig17",
        ),
    ];

    #[test]
    fn every_figure_of_each_paper_is_there() {
        for (paper, (key, ids)) in all().iter().zip(CAPTIONS) {
            assert_eq!(paper.key, key);
            let known: HashSet<&str> = ids.split_whitespace().collect();
            let ours: HashSet<&str> = paper.figures.iter().map(|f| f.id).collect();
            assert_eq!(ours, known, "{key}");
            assert_eq!(paper.figures.len(), known.len(), "{key}: an identifier twice");
        }
    }

    #[test]
    fn a_figure_is_measured_or_says_why_not() {
        for paper in all() {
            for figure in &paper.figures {
                let name = name(&paper, figure);
                assert!(
                    !figure.views.is_empty() || figure.absent.ends_with('.'),
                    "{name}: neither a case nor a reason"
                );
                assert!(
                    figure.views.is_empty() || (!figure.x.is_empty() && !figure.y.is_empty()),
                    "{name}: axes"
                );
                assert!(!figure.place.is_empty() && !figure.title.is_empty(), "{name}");
            }
        }
    }

    /// The cases with which figures are measured, as large as they are published.
    fn cases() -> Vec<Case> {
        crate::cases::all(&Sizes::whole())
    }

    #[test]
    fn cases_and_series_of_figures_exist() {
        let cases = cases();
        let find =
            |name: &str| cases.iter().find(|c| c.name == name).unwrap_or_else(|| panic!("no case {name}"));
        for paper in all() {
            for figure in &paper.figures {
                for view in &figure.views {
                    find(view.case);
                }
                for published in &figure.published {
                    let named = match &published.ours {
                        Some(Selection::Ratio { case, over, under, .. }) => {
                            vec![(*case, Some(over)), (*case, under.as_ref())]
                        }
                        Some(Selection::Difference { case, over, under, .. }) => {
                            vec![(*case, Some(over)), (*case, Some(under))]
                        }
                        Some(Selection::Mean(mean)) => mean.cases.iter().map(|case| (*case, None)).collect(),
                        Some(Selection::Exact(..)) | None => Vec::new(),
                    };
                    for (title, series) in named {
                        let (case, over) =
                            title.split_once(" over ").map_or((title, None), |(c, over)| (c, Some(over)));
                        let labels: Vec<&str> = find(case).series.iter().map(|s| s.label.as_str()).collect();
                        let there = series.is_none_or(|(label, _)| labels.contains(&label.as_str()));
                        assert!(there, "{}: {series:?} is not in {labels:?}", name(&paper, figure));
                        assert!(
                            figure.views.iter().any(|v| (v.case, v.over) == (case, over)),
                            "{}: {title} is not shown",
                            name(&paper, figure)
                        );
                    }
                }
                let counters = figure.why.iter().flat_map(|why| &why.counters);
                for (counter, (_, series)) in counters.flat_map(|c| c.of.iter().map(move |of| (c, of))) {
                    let there = find(counter.case).series.iter().any(|s| s.label == *series);
                    assert!(there, "{}: no series {series}", name(&paper, figure));
                }
            }
        }
    }

    #[test]
    fn names_choose_figures() {
        let count = |names: &[&str]| {
            let names: Vec<String> = names.iter().map(|n| (*n).to_owned()).collect();
            chosen(&names).map(|papers| papers.iter().map(|p| p.figures.len()).sum::<usize>())
        };
        assert_eq!(count(&["000"]), Ok(11));
        assert_eq!(count(&["fig5.2"]), Ok(3));
        assert_eq!(count(&["002-fig5.2a", "004-fig3"]), Ok(2));
        assert!(count(&["fig99"]).is_err_and(|why| why.contains("fig99")));
        assert_eq!(count(&[]), Ok(all().iter().map(|p| p.figures.len()).sum()));
    }
}
