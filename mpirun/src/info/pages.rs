//! `--help TOPIC`: the pages of the documentation that are installed.

use super::answers::Answer;
use oxmpi_mca_params::{Places, nearest};

/// The page of a topic; `topics` lists them.
pub fn page(places: &Places, topic: &str) -> Result<Answer, String> {
    let folder = places.prefix.as_ref().map(|prefix| prefix.join("share/oxmpi/pages"));
    let folder = folder.ok_or("this program is in no installation, so there are no pages")?;
    let entries = std::fs::read_dir(&folder).map_err(|why| format!("{}: {why}", folder.display()))?;
    let names = entries.flatten().filter_map(|entry| {
        entry.file_name().to_str().and_then(|name| name.strip_suffix(".md")).map(str::to_owned)
    });
    let mut topics: Vec<String> = names.collect();
    topics.sort();
    if topic == "topics" {
        return Ok(Answer { text: topics.join("\n") + "\n", good: true });
    }
    if !topics.iter().any(|known| known == topic) {
        let hint = nearest(topic, topics.iter().map(String::as_str));
        let hint = hint.map(|near| format!("; the nearest is {near}")).unwrap_or_default();
        return Err(format!("there is no page {topic:?}{hint}; pages: {}", topics.join(", ")));
    }
    let file = folder.join(format!("{topic}.md"));
    let text = std::fs::read_to_string(&file).map_err(|why| format!("{}: {why}", file.display()))?;
    Ok(Answer { text, good: true })
}
