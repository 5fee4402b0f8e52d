//! Tokens that are known by how they begin.
//!
//! Source: the rules of gitleaks (`config/gitleaks.toml` at b58d3f102cf3, 2026-07-22), those whose expression begins
//! with a literal. The rules marked `unsourced` are not among them: their prefixes are widely seen, their shapes were
//! not checked against the vendors' documentation. Lengths are loosened downwards: a token that a tool cut off is still
//! a token.

/// Which bytes may follow the prefix.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Body {
    /// `0-9 a-f A-F`
    Hex,
    /// `0-9 A-Z`
    Upper,
    /// `0-9 a-z A-Z`
    Alnum,
    /// `0-9 a-z A-Z _ -`
    Word,
    /// `0-9 a-z A-Z _ - . = + / ~`
    Wide,
}

impl Body {
    pub(super) fn holds(self, byte: u8) -> bool {
        match self {
            Body::Hex => byte.is_ascii_hexdigit(),
            Body::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Body::Alnum => byte.is_ascii_alphanumeric(),
            Body::Word => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Body::Wide => {
                byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'=' | b'+' | b'/' | b'~')
            }
        }
    }
}

/// One kind of token.
pub(super) struct Rule {
    /// How it begins, exactly.
    pub prefix: &'static str,
    /// What follows.
    pub body: Body,
    /// How many bytes must follow at least.
    pub least: usize,
    /// What a reader sees instead.
    pub kind: &'static str,
}

const fn rule(prefix: &'static str, body: Body, least: usize, kind: &'static str) -> Rule {
    Rule { prefix, body, least, kind }
}

/// Of two rules that fit, the later one is tried first: a longer prefix stands behind the shorter one it begins with.
pub(super) const RULES: &[Rule] = &[
    rule("A3-", Body::Wide, 28, "1Password secret key"),
    rule("ABIA", Body::Upper, 16, "AWS access key"),
    rule("ABSK", Body::Wide, 60, "AWS Bedrock API key"),
    rule("ACCA", Body::Upper, 16, "AWS access key"),
    rule("AGE-SECRET-KEY-1", Body::Upper, 20, "age secret key"),
    rule("AIza", Body::Word, 30, "Google API key"),
    rule("AKCp", Body::Alnum, 40, "Artifactory API key"),
    rule("AKIA", Body::Upper, 12, "AWS access key"),
    rule("API-", Body::Upper, 26, "Octopus Deploy API key"),
    rule("ASIA", Body::Upper, 12, "AWS access key"),
    rule("CLOJARS_", Body::Alnum, 40, "Clojars token"),
    rule("EAAA", Body::Word, 40, "Square access token"),
    rule("EAAC", Body::Alnum, 80, "Facebook access token"),
    rule("EAAM", Body::Alnum, 80, "Facebook access token"),
    rule("EZAK", Body::Alnum, 40, "EasyPost API key"),
    rule("EZTK", Body::Alnum, 40, "EasyPost API key"),
    rule("FLWSECK", Body::Word, 12, "Flutterwave secret key"),
    // unsourced: Google OAuth client secrets.
    rule("GOCSPX-", Body::Word, 20, "Google OAuth client secret"),
    rule("GR1348941", Body::Word, 16, "GitLab runner token"),
    rule("HRKU-AA", Body::Word, 40, "Heroku API key"),
    rule("LTAI", Body::Alnum, 18, "Alibaba access key"),
    rule("PMAK-", Body::Word, 40, "Postman API key"),
    rule("SG.", Body::Wide, 50, "SendGrid API key"),
    rule("SK", Body::Hex, 32, "Twilio API key"),
    rule("api_org_", Body::Alnum, 30, "Hugging Face token"),
    rule("cmVmd", Body::Alnum, 50, "Artifactory token"),
    rule("dapi", Body::Hex, 30, "Databricks token"),
    rule("doo_v1_", Body::Hex, 40, "DigitalOcean token"),
    rule("dop_v1_", Body::Hex, 40, "DigitalOcean token"),
    rule("dor_v1_", Body::Hex, 40, "DigitalOcean token"),
    rule("dp.pt.", Body::Alnum, 30, "Doppler token"),
    // unsourced: Doppler service tokens.
    rule("dp.st.", Body::Wide, 30, "Doppler token"),
    rule("dt0c01.", Body::Wide, 60, "Dynatrace token"),
    rule("duffel_live_", Body::Wide, 30, "Duffel token"),
    rule("duffel_test_", Body::Wide, 30, "Duffel token"),
    rule("fio-u-", Body::Wide, 40, "Frame.io token"),
    rule("fm1a_", Body::Wide, 60, "Fly.io token"),
    rule("fm1r_", Body::Wide, 60, "Fly.io token"),
    rule("fm2_", Body::Wide, 60, "Fly.io token"),
    rule("fo1_", Body::Word, 40, "Fly.io token"),
    rule("gho_", Body::Alnum, 20, "GitHub token"),
    rule("ghp_", Body::Alnum, 20, "GitHub token"),
    rule("ghr_", Body::Alnum, 20, "GitHub token"),
    rule("ghs_", Body::Alnum, 20, "GitHub token"),
    rule("ghu_", Body::Alnum, 20, "GitHub token"),
    rule("github_pat_", Body::Word, 22, "GitHub token"),
    rule("glagent-", Body::Word, 40, "GitLab token"),
    rule("glc_", Body::Wide, 32, "Grafana token"),
    rule("glcbt-", Body::Word, 20, "GitLab token"),
    rule("gldt-", Body::Word, 18, "GitLab token"),
    rule("glffct-", Body::Word, 18, "GitLab token"),
    rule("glft-", Body::Word, 18, "GitLab token"),
    rule("glimt-", Body::Word, 18, "GitLab token"),
    rule("gloas-", Body::Word, 40, "GitLab token"),
    rule("glpat-", Body::Wide, 18, "GitLab token"),
    rule("glptt-", Body::Hex, 30, "GitLab token"),
    rule("glrt-", Body::Wide, 18, "GitLab token"),
    rule("glsa_", Body::Word, 32, "Grafana token"),
    rule("glsoat-", Body::Word, 18, "GitLab token"),
    // unsourced: Groq.
    rule("gsk_", Body::Alnum, 32, "Groq API key"),
    rule("hf_", Body::Alnum, 30, "Hugging Face token"),
    rule("hvb.", Body::Wide, 60, "Vault token"),
    rule("hvs.", Body::Wide, 24, "Vault token"),
    rule("ico-", Body::Alnum, 32, "Infracost API key"),
    rule("lin_api_", Body::Alnum, 30, "Linear API key"),
    // unsourced: Netlify.
    rule("nfp_", Body::Alnum, 30, "Netlify token"),
    rule("npm_", Body::Alnum, 30, "npm token"),
    rule("ntn_", Body::Alnum, 36, "Notion token"),
    // unsourced: New Relic.
    rule("NRAK-", Body::Upper, 24, "New Relic API key"),
    rule("ops_eyJ", Body::Wide, 60, "1Password service account token"),
    rule("p8e-", Body::Alnum, 32, "Adobe client secret"),
    rule("pat.", Body::Wide, 60, "Harness API key"),
    rule("pnu_", Body::Alnum, 30, "Prefect token"),
    rule("pplx-", Body::Alnum, 30, "Perplexity API key"),
    rule("pscale_oauth_", Body::Wide, 30, "PlanetScale token"),
    rule("pscale_pw_", Body::Wide, 30, "PlanetScale password"),
    rule("pscale_tkn_", Body::Wide, 30, "PlanetScale token"),
    rule("pul-", Body::Hex, 36, "Pulumi token"),
    rule("pypi-AgE", Body::Word, 40, "PyPI token"),
    rule("rdme_", Body::Alnum, 60, "ReadMe token"),
    rule("rk_live_", Body::Alnum, 10, "Stripe key"),
    rule("rk_prod_", Body::Alnum, 10, "Stripe key"),
    rule("rk_test_", Body::Alnum, 10, "Stripe key"),
    // unsourced: Replicate.
    rule("r8_", Body::Alnum, 36, "Replicate token"),
    rule("rubygems_", Body::Hex, 40, "RubyGems token"),
    rule("s-s4t2", Body::Word, 50, "42 client secret"),
    // unsourced: Supabase.
    rule("sb_secret_", Body::Word, 20, "Supabase key"),
    rule("sbp_", Body::Hex, 36, "Supabase token"),
    rule("sha256~", Body::Word, 40, "OpenShift token"),
    rule("shippo_live_", Body::Hex, 36, "Shippo token"),
    rule("shippo_test_", Body::Hex, 36, "Shippo token"),
    rule("shpat_", Body::Hex, 28, "Shopify token"),
    rule("shpca_", Body::Hex, 28, "Shopify token"),
    rule("shppa_", Body::Hex, 28, "Shopify token"),
    rule("shpss_", Body::Hex, 28, "Shopify secret"),
    rule("sgp_", Body::Word, 36, "Sourcegraph token"),
    // Of the kind `sk-…` that OpenAI began and many providers copied: letters and digits only, so `sk-learn-…` is none.
    rule("sk-", Body::Alnum, 20, "API key"),
    rule("sk-admin-", Body::Word, 30, "OpenAI API key"),
    rule("sk-ant-", Body::Word, 24, "Anthropic API key"),
    rule("sk-or-v1-", Body::Word, 24, "OpenRouter API key"),
    rule("sk-proj-", Body::Word, 24, "OpenAI API key"),
    rule("sk-svcacct-", Body::Word, 30, "OpenAI API key"),
    rule("sk_live_", Body::Alnum, 10, "Stripe key"),
    rule("sk_prod_", Body::Alnum, 10, "Stripe key"),
    rule("sk_test_", Body::Alnum, 10, "Stripe key"),
    rule("sm_aat_", Body::Alnum, 16, "SettleMint token"),
    rule("sm_pat_", Body::Alnum, 16, "SettleMint token"),
    rule("sm_sat_", Body::Alnum, 16, "SettleMint token"),
    rule("sntrys_", Body::Wide, 40, "Sentry token"),
    rule("sntryu_", Body::Hex, 40, "Sentry token"),
    rule("sq0atp-", Body::Word, 20, "Square access token"),
    // unsourced: Square.
    rule("sq0csp-", Body::Word, 30, "Square secret"),
    // unsourced: Tailscale.
    rule("tskey-", Body::Word, 20, "Tailscale key"),
    rule("tk-us-", Body::Word, 40, "Scalingo token"),
    // unsourced: Stripe webhooks.
    rule("whsec_", Body::Wide, 24, "webhook secret"),
    // unsourced: xAI.
    rule("xai-", Body::Alnum, 60, "xAI API key"),
    rule("xapp-", Body::Word, 30, "Slack token"),
    rule("xkeysib-", Body::Word, 60, "Brevo API key"),
    rule("xoxa-", Body::Word, 16, "Slack token"),
    rule("xoxb-", Body::Word, 16, "Slack token"),
    rule("xoxe-", Body::Word, 30, "Slack token"),
    rule("xoxe.", Body::Wide, 30, "Slack token"),
    rule("xoxo-", Body::Word, 16, "Slack token"),
    rule("xoxp-", Body::Word, 16, "Slack token"),
    rule("xoxr-", Body::Word, 16, "Slack token"),
    rule("xoxs-", Body::Word, 16, "Slack token"),
];
