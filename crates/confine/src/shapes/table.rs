//! The table of credential shapes: one line a family.
//!
//! In: nothing. Out: the rules. Each family has lines in `testdata/corpora/secrets.jsonl`; whoever
//! adds a rule adds its positives and the traps that it must let pass there.
//! Never: a rule that takes more than linear time, a quantifier without an end where a released
//! match is followed by another look at its own text.
//!
//! The shapes are the makers' published formats, re-checked at each release against the rule names
//! of gitleaks. What cannot be told from an ordinary digest by its shape (Gitea, Mistral, Datadog
//! and the like: bare hexadecimal) is found by the assignment in front of it alone.

use super::filter::Filter;

/// One family of credentials.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub(super) family: &'static str,
    /// One of these stands in every match, in any case of its letters. None: the rule has no such
    /// word and is always tried.
    pub(super) needs: &'static [&'static str],
    /// A regular expression over bytes. Its first group is the secret, where the filter needs it.
    body: &'static str,
    prefix: &'static str,
    flags: &'static str,
    pub(super) filter: Filter,
}

/// What may stand before a token. A word boundary alone misses one that follows an escape in a
/// JSON string or a URL, or a terminal colour.
const LEFT: &str =
    r"(?:\b|%[0-9A-Fa-f]{2}|\\(?:[nrtbf]|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|[0-7]{3})|\x1b\[[0-9;]*m)";

impl Rule {
    const fn new(family: &'static str, needs: &'static [&'static str], body: &'static str) -> Self {
        let filter = Filter::Placeholder;
        Self {
            family,
            needs,
            body,
            prefix: LEFT,
            flags: "",
            filter,
        }
    }

    const fn any_case(self) -> Self {
        Self {
            flags: "(?i)",
            ..self
        }
    }

    const fn anywhere(self) -> Self {
        Self { prefix: "", ..self }
    }

    const fn judged_by(self, filter: Filter) -> Self {
        Self { filter, ..self }
    }

    /// The whole expression.
    pub(super) fn pattern(&self) -> String {
        [self.flags, self.prefix, self.body].concat()
    }
}

/// All of them.
pub(super) const RULES: &[Rule] = &[
    Rule::new(
        "github-user-token",
        &["ghp_", "gho_", "ghu_", "ghr_"],
        r"gh[pour]_[A-Za-z0-9]{36,251}",
    ),
    Rule::new("github-app-token", &["ghs_"], r"ghs_[A-Za-z0-9._-]{36,}"),
    Rule::new(
        "github-fine-grained",
        &["github_pat_"],
        r"github_pat_[A-Za-z0-9_]{60,251}",
    ),
    Rule::new(
        "gitlab-token",
        &[
            "glpat-", "glptt-", "gldt-", "glrt-", "glrtr-", "glcbt-", "glagent-", "gloas-",
            "glft-", "glsoat-", "glimt-", "glffct-", "glwt-",
        ],
        r"gl(?:pat|ptt|dt|rt|rtr|cbt|agent|oas|ft|soat|imt|ffct|wt)-[A-Za-z0-9_.=-]{20,300}",
    ),
    Rule::new(
        "gitlab-runner-legacy",
        &["GR1348941"],
        r"GR1348941[A-Za-z0-9_-]{20}",
    ),
    Rule::new(
        "aws-access-key-id",
        &["AKIA", "ASIA", "ABIA", "ACCA"],
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z2-7]{16}\b",
    )
    .judged_by(Filter::AwsId),
    Rule::new(
        "aws-secret-assign",
        &["awssecret", "aws_secret", "awssession", "aws_session"],
        r#"aws_?(?:secret|session)[A-Za-z0-9_. -]{0,24}["']?\s*[:=]>?\s*["']?[A-Za-z0-9/+]{40}"#,
    )
    .any_case(),
    Rule::new("aws-bedrock", &["ABSK"], r"ABSK[A-Za-z0-9+/]{100,}={0,2}"),
    Rule::new(
        "gcp-service-account",
        &[r#""private_key_id""#],
        r#""private_key_id"\s*:\s*"[0-9a-f]{40}""#,
    )
    .anywhere()
    .judged_by(Filter::None),
    Rule::new("google-api-key", &["AIza"], r"AIza[A-Za-z0-9_-]{35}"),
    Rule::new(
        "google-auth-key",
        &["AQ.", "IQ."],
        r"[AI]Q\.[A-Za-z0-9_-]{30,}",
    ),
    Rule::new("google-oauth", &["ya29."], r"ya29\.[A-Za-z0-9_-]{30,}"),
    Rule::new(
        "google-client-secret",
        &["GOCSPX-"],
        r"GOCSPX-[A-Za-z0-9_-]{28}",
    ),
    Rule::new("google-refresh", &["1//0"], r"1//0[A-Za-z0-9_-]{40,}"),
    Rule::new(
        "azure-conn-string",
        &["AccountKey=", "SharedAccessKey="],
        r"(?:AccountKey|SharedAccessKey)=[A-Za-z0-9+/]{43,86}={1,2}",
    )
    .any_case(),
    Rule::new(
        "azure-sas",
        &["?sig=", "&sig="],
        r"[?&]sig=[A-Za-z0-9%+/]{40,}(?:%3[dD]|=)",
    )
    .anywhere(),
    Rule::new(
        "azure-entra-secret",
        &["Q~"],
        r"[A-Za-z0-9_~.-]{3}[0-9]Q~[A-Za-z0-9_~.-]{31,34}",
    ),
    Rule::new(
        "azure-devops-pat",
        &["AZDO"],
        r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}\b",
    ),
    Rule::new(
        "azure-identifiable",
        &["JQQJ9"],
        r"[A-Za-z0-9]{52}JQQJ9[9D][A-Za-z0-9]{20,30}",
    ),
    Rule::new(
        "slack-token",
        &["xox"],
        r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{20,}",
    ),
    Rule::new(
        "slack-app-token",
        &["xapp-"],
        r"xapp-[0-9]-[A-Z0-9]{8,}-[0-9]{8,}-[0-9a-f]{32,}",
    ),
    Rule::new(
        "slack-webhook",
        &["hooks.slack.com/"],
        r"https://hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9+/]{40,}",
    )
    .anywhere(),
    Rule::new(
        "discord-bot-token",
        &[],
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6,7}\.[A-Za-z0-9_-]{27,40}",
    )
    .judged_by(Filter::BotToken),
    Rule::new("discord-mfa", &["mfa."], r"mfa\.[A-Za-z0-9_-]{80,}"),
    Rule::new(
        "discord-webhook",
        &["/webhooks/"],
        concat!(
            r"https?://(?:canary\.|ptb\.)?discord(?:app)?\.com/api/(?:v[0-9]{1,2}",
            r"/)?webhooks/[0-9]{17,20}/[A-Za-z0-9_-]{40,}",
        ),
    )
    .any_case()
    .anywhere(),
    Rule::new(
        "openai-key",
        &[
            "sk-proj-",
            "sk-svcacct-",
            "sk-admin-",
            "sk-service-",
            "sk-None-",
        ],
        r"sk-(?:proj|svcacct|admin|service|None)-[A-Za-z0-9_-]{20,}",
    ),
    Rule::new(
        "anthropic-key",
        &["sk-ant-"],
        r"sk-ant-[a-z]{3,6}[0-9]{2}-[A-Za-z0-9_-]{40,}",
    ),
    Rule::new(
        "openrouter-key",
        &["sk-or-v"],
        r"sk-or-v[0-9]-[0-9a-f]{40,}",
    ),
    Rule::new("sk-generic", &["sk-"], r"sk-[A-Za-z0-9]{32,}"),
    Rule::new(
        "xai-groq-hf",
        &[
            "xai-", "gsk_", "hf_", "pplx-", "r8_", "tvly-", "nvapi-", "csk-", "lsv2_",
        ],
        concat!(
            r"(?:xai-[A-Za-z0-9]{60,}|gsk_[A-Za-z0-9]{40,}|hf_[A-Za-z0-9]{30,}",
            r"|pplx-[A-Za-z0-9]{40,}|r8_[A-Za-z0-9]{36,}|tvly-[A-Za-z0-9-]{28,}",
            r"|nvapi-[A-Za-z0-9_-]{60,}|csk-[a-z0-9]{40,}|lsv2_(?:pt|",
            r"sk)_[0-9a-f]{32}_[0-9a-f]{10})",
        ),
    ),
    Rule::new(
        "stripe",
        &["k_live_", "k_test_", "k_prod_"],
        r"(?:sk|rk)_(?:live|test|prod)_[A-Za-z0-9]{16,}",
    ),
    Rule::new("stripe-webhook", &["whsec_"], r"whsec_[A-Za-z0-9+/=]{32,}"),
    Rule::new("npm-token", &["npm_"], r"npm_[A-Za-z0-9]{36}"),
    Rule::new(
        "npmrc-auth",
        &["_authToken", "_auth", "_password"],
        r"(?:_authToken|_auth|_password)\s*=\s*[A-Za-z0-9+/=_-]{16,}",
    )
    .anywhere(),
    Rule::new("pypi-token", &["pypi-AgE"], r"pypi-AgE[A-Za-z0-9_-]{50,}"),
    Rule::new("crates-io", &["cio"], r"cio[A-Za-z0-9]{32}\b"),
    Rule::new(
        "package-registries",
        &["rubygems_", "oy2", "CLOJARS_", "dckr_"],
        concat!(
            r"(?:rubygems_[0-9a-f]{48}|oy2[a-z0-9]{43}|CLOJARS_[0-9a-f]{60}",
            r"|dckr_[po]at_[A-Za-z0-9_-]{27,})",
        ),
    ),
    Rule::new(
        "telegram",
        &[":AA"],
        r"(?:\b|bot)[0-9]{8,10}:AA[A-Za-z0-9_-]{32,35}",
    )
    .anywhere(),
    Rule::new(
        "jwt",
        &["eyJ"],
        r"eyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{16,}",
    ),
    Rule::new(
        "pem-private",
        &["-----BEGIN"],
        concat!(
            r"-----BEGIN (?:[A-Z0-9]+ ){0,4}PRIVATE KEY(?: BLOCK)?-----(?:\s|",
            r"\\[nr]|[A-Za-z-]+: [^\n\\]{1,200})*[A-Za-z0-9+/=]{32,}",
        ),
    )
    .anywhere()
    .judged_by(Filter::None),
    Rule::new(
        "pem-base64",
        &["LS0tLS1CRUdJTiB"],
        concat!(
            r"LS0tLS1CRUdJTiB(?:QUklWQVRFIEtFW|SU0EgUFJJVkFURSBLRV|",
            r"FQyBQUklWQVRFIEtFW|PUEVOU1NIIFBSSVZBVE|FTkNSWVBURUQgUFJJVk)",
            r"[A-Za-z0-9+/=]{20,}",
        ),
    )
    .judged_by(Filter::None),
    Rule::new(
        "putty-key",
        &["PuTTY-User-Key-File-"],
        r"PuTTY-User-Key-File-[0-9]: ",
    )
    .anywhere()
    .judged_by(Filter::None),
    Rule::new(
        "openssh-raw",
        &["b3BlbnNzaC1rZXktdjE"],
        r"b3BlbnNzaC1rZXktdjE[A-Za-z0-9+/]{40,}",
    )
    .judged_by(Filter::None),
    Rule::new(
        "age-key",
        &["AGE-SECRET-KEY-"],
        r"AGE-SECRET-KEY-(?:PQ-)?1[QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L]{50,}",
    ),
    Rule::new(
        "wireguard",
        &["PrivateKey"],
        r"PrivateKey\s*=\s*[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=",
    )
    .any_case(),
    Rule::new(
        "url-userinfo",
        &["://"],
        concat!(
            r#"[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s/:@'"<>`\\\[\]]{0,100}"#,
            r#":([^\s/@'"<>`\\\[\]]{3,200})@[A-Za-z0-9\[]"#,
        ),
    )
    .judged_by(Filter::Password),
    Rule::new(
        "netrc",
        &["machine"],
        r"machine\s+[A-Za-z0-9.-]+\s+(?:login\s+\S+\s+)?password\s+(\S{6,200})",
    )
    .any_case()
    .judged_by(Filter::Password),
    Rule::new(
        "auth-header",
        &["authorization"],
        concat!(
            r#"authorization["']?\s*[:=]\s*["']?(?:bearer|basic|token|"#,
            r"bot)\s+[A-Za-z0-9._~+/=-]{20,}",
        ),
    )
    .any_case(),
    Rule::new(
        "sendgrid",
        &["SG."],
        r"SG\.[A-Za-z0-9_-]{16,24}\.[A-Za-z0-9_-]{40,50}",
    ),
    Rule::new("twilio", &["SK"], r"SK[0-9a-f]{32}\b"),
    Rule::new(
        "mail-keys",
        &["key-", "-us"],
        r"(?:key-[0-9a-f]{32}|[0-9a-f]{32}-us[0-9]{1,2})\b",
    ),
    Rule::new(
        "cloud-misc",
        &[
            "dop_v1_",
            "doo_v1_",
            "dor_v1_",
            "dapi",
            "shpat_",
            "shpca_",
            "shppa_",
            "shpss_",
            "lin_api_",
            "lin_oauth_",
            "ntn_",
            "sbp_",
            "sb_secret_",
            "figd_",
            "glsa_",
            "glc_eyJ",
            "NRAK-",
            "pul-",
            "PMAK-",
            "tskey-",
            "ATATT3xFf",
            "ATCTT3xFf",
            "ATBB",
            "HRKU-",
            "sntry",
            "sntru",
            "pscale_",
            "dp.",
            "hvs.",
            "hvb.",
            "hvr.",
            "fm2_",
            "ops_eyJ",
            "sk.eyJ",
        ],
        concat!(
            r"(?:do[opr]_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}(?:-[0-9])?|",
            r"shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}|lin_(?:api|oauth)",
            r"_[A-Za-z0-9]{32,}|ntn_[A-Za-z0-9]{40,}|sbp_[0-9a-f]{40}",
            r"|sb_secret_[A-Za-z0-9_-]{20,}|figd_[A-Za-z0-9_-]{36,}",
            r"|glsa_[A-Za-z0-9]{32}_[0-9a-fA-F]{8}|glc_eyJ[A-Za-z0-9+/=]{40,}",
            r"|NRAK-[A-Z0-9]{27}|pul-[0-9a-f]{40}|PMAK-[0-9a-f]{24}",
            r"-[0-9a-f]{34}|tskey-(?:auth|api|client|scim|webhook)",
            r"-[A-Za-z0-9]{6,}-[A-Za-z0-9]{20,}|ATATT3xFf[A-Za-z0-9_=-]{40,}",
            r"|ATCTT3xFf[A-Za-z0-9_=-]{40,}|ATBB[A-Za-z0-9]{28,}|HRKU-[A-Za-z0-9_-]{36,}",
            r"|sntr[yu]s?_[A-Za-z0-9+/=_]{40,}|pscale_(?:tkn|pw|oauth)",
            r"_[A-Za-z0-9_=.-]{32,}|dp\.(?:pt|st|sa|ct|scim|audit)",
            r"\.[A-Za-z0-9.-]{40,}|hv[sbr]\.[A-Za-z0-9_-]{24,}|fm2_[A-Za-z0-9+/=_-]{60,}",
            r"|ops_eyJ[A-Za-z0-9+/=_-]{60,}",
            r"|sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,})",
        ),
    ),
    // "pat" stands in every path and pattern, so this one is apart from its family.
    Rule::new("cloud-misc", &["pat"], r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    Rule::new(
        "terraform-cloud",
        &[".atlasv1."],
        r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}",
    ),
    Rule::new(
        "docker-config",
        &[r#""auth""#],
        r#""auth"\s*:\s*"[A-Za-z0-9+/]{16,}={0,2}""#,
    )
    .anywhere(),
    Rule::new(
        "shadow-hash",
        &[":$"],
        r":\$(?:1|5|6|7|y|gy|2[aby])\$[A-Za-z0-9./$,=-]{20,}:",
    )
    .anywhere()
    .judged_by(Filter::None),
    Rule::new(
        "generic-assign",
        &[
            "apikey",
            "api_key",
            "secret",
            "token",
            "passwd",
            "password",
            "accesskey",
            "access_key",
            "authkey",
            "auth_key",
            "privatekey",
            "private_key",
            "credential",
        ],
        concat!(
            r"(?:api_?key|apikey|secret|token|passwd|password|access_?key|",
            r"auth_?key|private_?key|credential)[A-Za-z0-9_.-]{0,24}",
            r#"["']?\s*(?::=|=>|=|:)\s*["']?([A-Za-z0-9+/_.~=-]{20,96})"#,
        ),
    )
    .any_case()
    .anywhere()
    .judged_by(Filter::Assignment),
];
