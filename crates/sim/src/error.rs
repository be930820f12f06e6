//! Discord's error answers.
//!
//! In: what went wrong. Out: HTTP status, JSON code and message, nested form errors.
//! Never: a code that Discord does not document.

use serde_json::{Map, Value, json};

/// One refused request.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ApiError {
    pub(crate) status: u16,
    pub(crate) code: u32,
    pub(crate) message: &'static str,
    pub(crate) errors: Option<Value>,
}

macro_rules! known {
    ($($name:ident = $status:literal $code:literal $message:literal;)*) => {
        impl ApiError {
            $(pub(crate) const $name: Self =
                Self { status: $status, code: $code, message: $message, errors: None };)*
        }
    };
}

// Source: Discord API docs, Opcodes and Status Codes, JSON error codes.
known! {
    NOT_FOUND = 404 0 "404: Not Found";
    METHOD = 405 0 "405: Method Not Allowed";
    UNAUTHORIZED = 401 0 "401: Unauthorized";
    UNKNOWN_APPLICATION = 404 10002 "Unknown Application";
    UNKNOWN_CHANNEL = 404 10003 "Unknown Channel";
    UNKNOWN_GUILD = 404 10004 "Unknown Guild";
    UNKNOWN_MEMBER = 404 10007 "Unknown Member";
    UNKNOWN_MESSAGE = 404 10008 "Unknown Message";
    UNKNOWN_USER = 404 10013 "Unknown User";
    UNKNOWN_EMOJI = 400 10014 "Unknown Emoji";
    UNKNOWN_WEBHOOK = 404 10015 "Unknown Webhook";
    UNKNOWN_COMMAND = 404 10063 "Unknown application command";
    UNKNOWN_INTERACTION = 404 10062 "Unknown interaction";
    TOO_MANY_COMMANDS = 400 30032 "Maximum number of application commands reached (100)";
    TOO_MANY_REACTIONS = 400 30010 "Maximum number of reactions reached (20)";
    OLD_EDITS = 429 30046 "Maximum number of edits to messages older than 1 hour reached. Try again later";
    TOO_LARGE = 413 40005 "Request entity too large";
    FORUM_MESSAGE = 400 40058 "Cannot message this channel until you start a thread";
    ALREADY_ANSWERED = 400 40060 "Interaction has already been acknowledged.";
    MISSING_ACCESS = 403 50001 "Missing Access";
    WRONG_CHANNEL_TYPE = 400 50024 "Cannot execute action on this channel type";
    NOT_AUTHOR = 403 50005 "Cannot edit a message authored by another user";
    EMPTY_MESSAGE = 400 50006 "Cannot send an empty message";
    CANNOT_DM = 403 50007 "Cannot send messages to this user";
    MISSING_PERMISSIONS = 403 50013 "Missing Permissions";
    SYSTEM_MESSAGE = 403 50021 "Cannot execute action on a system message";
    FORM = 400 50035 "Invalid Form Body";
    FILE_TOO_LARGE = 413 50045 "File uploaded exceeds the maximum size";
    ARCHIVED = 400 50083 "Thread is archived";
    BAD_JSON = 400 50109 "The request body contains invalid JSON.";
    THREAD_EXISTS = 400 160004 "A thread has already been created for this message";
    REPLY_NEEDS_HISTORY = 403 160002 "Cannot reply without permission to read message history";
    LOCKED = 403 160005 "Thread is locked";
    TOO_MANY_THREADS = 400 160006 "Maximum number of active threads reached";
}

impl ApiError {
    /// The JSON body.
    pub(crate) fn body(&self) -> Value {
        let mut body = json!({ "message": self.message, "code": self.code });
        if let (Some(errors), Some(map)) = (&self.errors, body.as_object_mut()) {
            map.insert("errors".to_owned(), errors.clone());
        }
        body
    }

    /// A form error with one complaint.
    pub(crate) fn form(path: &[&str], code: &str, message: &str) -> Self {
        let mut errors = FormErrors::default();
        errors.add(path, code, message);
        errors.into_error()
    }
}

/// The complaints about one request body, nested as Discord nests them.
#[derive(Debug, Default)]
pub(crate) struct FormErrors(Map<String, Value>);

impl FormErrors {
    /// Adds a complaint about the field at `path`; list indexes are path parts too.
    pub(crate) fn add(&mut self, path: &[&str], code: &str, message: &str) {
        let mut at = &mut self.0;
        for part in path {
            let next = at
                .entry((*part).to_owned())
                .or_insert_with(|| Value::Object(Map::new()));
            let Value::Object(map) = next else { return };
            at = map;
        }
        let list = at.entry("_errors".to_owned()).or_insert_with(|| json!([]));
        if let Value::Array(list) = list {
            list.push(json!({ "code": code, "message": message }));
        }
    }

    /// The usual complaint about a text that is too long, counted in code points.
    pub(crate) fn length(&mut self, path: &[&str], min: usize, max: usize) {
        if min == 0 {
            let message = format!("Must be {max} or fewer in length.");
            self.add(path, "BASE_TYPE_MAX_LENGTH", &message);
        } else {
            let message = format!("Must be between {min} and {max} in length.");
            self.add(path, "BASE_TYPE_BAD_LENGTH", &message);
        }
    }

    /// The usual complaint about a value of the wrong JSON type.
    pub(crate) fn wrong_type(&mut self, path: &[&str], wanted: &str) {
        let code = format!("{}_TYPE_CONVERT", wanted.to_uppercase());
        self.add(
            path,
            &code,
            &format!("Could not interpret value as {wanted}."),
        );
    }

    /// The whole as an answer.
    ///
    /// # Errors
    ///
    /// Fails with 50035 when there was any complaint.
    pub(crate) fn finish(self) -> Result<(), ApiError> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(self.into_error())
        }
    }

    fn into_error(self) -> ApiError {
        ApiError {
            errors: Some(Value::Object(self.0)),
            ..ApiError::FORM
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn form_errors_nest_by_path() {
        let mut errors = FormErrors::default();
        errors.length(&["content"], 0, 2_000);
        errors.add(&["embeds", "0", "title"], "X", "y");
        let error = errors.finish().expect_err("two complaints");
        let want = json!({
            "code": 50035, "message": "Invalid Form Body",
            "errors": {
                "content": {"_errors": [{"code": "BASE_TYPE_MAX_LENGTH", "message": "Must be 2000 or fewer in length."}]},
                "embeds": {"0": {"title": {"_errors": [{"code": "X", "message": "y"}]}}},
            },
        });
        assert_eq!(error.body(), want);
    }
}
