use super::*;

#[test]
fn null_counts_as_absent() {
    let cases = [
        (r#"{"a": null}"#, "{}"),
        (r#"{"a":null,"b":1}"#, r#"{"b":1}"#),
        (r#"{"b":1 , "a" : null }"#, r#"{"b":1}"#),
        (r#"{"a":null,"b":null}"#, "{}"),
        (r#"{"c":[1,2],"b":null,"a":null}"#, r#"{"c":[1,2]}"#),
        (r#"{"c":1,"b":{"a":null}}"#, r#"{"c":1,"b":{}}"#),
        (
            r#"[null,{"a":"\",\":null"}]"#,
            r#"[null,{"a":"\",\":null"}]"#,
        ),
        // These are no JSON before, and none after.
        (r#"{"a":nul}"#, r#"{"a":nul}"#),
        (r#"{"a":null"b":1}"#, r#"{"a":null"b":1}"#),
        (r#"{"a":"#, r#"{"a":"#),
        (r#"{"a\"#, r#"{"a\"#),
    ];
    for (json, expected) in cases {
        let found = without_nulls(json.as_bytes());
        assert_eq!(found.len(), json.len(), "{json}");
        let found = String::from_utf8_lossy(&found).replace(' ', "");
        assert_eq!(found, expected, "{json}");
    }
}
