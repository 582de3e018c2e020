import { column, type TablesOf, table } from '../database/table.ts';
import type {
  ActionDecision,
  ActionOutcome,
  AgentStateName,
  AgentType,
  CeilingCause,
  CertificateKind,
  DecoySort,
  KillMode,
  KillStepName,
  PassportStatus,
  RevocationReason,
  StepResult,
  SuspensionCause,
  TrustRuleName,
  TrustTier,
} from './enums.ts';

const IDENTITY_TABLES = {
  /** Generations of the platform's own keys. */
  agent_authorities: table(
    {
      /** Number, from 1. */
      generation: column.integer('PRIMARY KEY'),
      made_at: column.text(),
      not_after: column.text(),
      /** Certificates of the keys that sign certificates. */
      ecdsa_pem: column.text(),
      ml_dsa_65_pem: column.text(),
      /** JSON list of `PublicJwk`, of the keys that sign passports, lists and messages. */
      public_keys: column.text(),
      /** Sealed JSON of PKCS #8 in base64. */
      private_keys: column.bytes(),
    },
    { appendOnly: [['generation']] },
  ),
  /** Identities that onboardings issued. */
  agent_identities: table(
    {
      /** Index in the status list. */
      identity_no: column.ordinal(),
      agent_no: column.integer('REFERENCES agents'),
      /** Number among the identities of the agent, from 1. */
      issue_no: column.integer(),
      /** Generation of the platform's keys that signed the identity. */
      generation: column.integer('REFERENCES agent_authorities'),
      did: column.text(),
      /** JSON of `AgentPublicKeys`. */
      public_keys: column.text(),
      ecdsa_serial: column.text('UNIQUE'),
      ml_dsa_65_serial: column.text('UNIQUE'),
      ecdsa_pem: column.text(),
      ml_dsa_65_pem: column.text(),
      not_after: column.text(),
      /** Composition that the passport and certificates state. */
      composition: column.digest(),
      passport_jti: column.text('UNIQUE'),
      /** JSON of a JWS; empty only within the transaction that issues it. */
      passport_jws: column.text(),
      passport_status: column.oneOf<PassportStatus>(['valid', 'suspended', 'revoked', 'superseded']),
      status_changed_at: column.text(),
      /** API key issued with the identity. */
      key_id: column.text(),
      issued_at: column.text(),
    },
    { constraints: ['UNIQUE (agent_no, issue_no)'] },
  ),
  /** Certificates that are revoked or on hold. */
  agent_revocations: table(
    {
      kind: column.oneOf<CertificateKind>(['ecdsa', 'ml_dsa_65']),
      generation: column.integer('REFERENCES agent_authorities'),
      serial: column.text(),
      identity_no: column.integer('REFERENCES agent_identities'),
      reason: column.oneOf<RevocationReason>(['certificateHold', 'cessationOfOperation', 'superseded']),
      revoked_at: column.text(),
    },
    { constraints: ['PRIMARY KEY (kind, serial)'], indexes: { agent_revocations_by_list: '(kind, generation)' } },
  ),
};

export const KILL_TABLES = {
  agent_kills: table(
    {
      kill_no: column.ordinal(),
      kill_id: column.text('UNIQUE'),
      agent_no: column.integer('REFERENCES agents'),
      mode: column.oneOf<KillMode>(['suspend', 'revoke']),
      reason: column.text(),
      started_at: column.text(),
      started_by: column.text(),
      finished_at: column.optional(column.text()),
      flipped_after_ms: column.optional(column.integer()),
      /** End of the claim of the process that runs the kill. */
      claimed_until: column.optional(column.text()),
      claimed_by: column.optional(column.text()),
    },
    {
      indexes: {
        agent_kills_by_agent: '(agent_no, kill_no)',
        agent_kills_unfinished: '(kill_no) WHERE finished_at IS NULL',
      },
    },
  ),
  /** Steps of kills in order, those of children first. */
  agent_kill_steps: table(
    {
      kill_no: column.integer('REFERENCES agent_kills'),
      number: column.integer(),
      agent_no: column.integer('REFERENCES agents'),
      step: column.text<KillStepName>(),
      deadline_ms: column.integer(),
      started_at: column.optional(column.text()),
      ended_at: column.optional(column.text()),
      result: column.optional(column.oneOf<StepResult>(['completed', 'failed', 'not_available'])),
      /** Readable outcome, or the reason of a failure. */
      detail: column.optional(column.text()),
    },
    { constraints: ['PRIMARY KEY (kill_no, number)'], indexes: { agent_kill_steps_by_agent: '(agent_no, kill_no)' } },
  ),
  agent_subscribers: table({
    subscriber_no: column.ordinal(),
    subscriber_id: column.text('UNIQUE'),
    url: column.text(),
    audience: column.text(),
    added_at: column.text(),
    added_by: column.text(),
    removed_at: column.optional(column.text()),
  }),
  /** Security Event Tokens for subscribers. */
  agent_set_deliveries: table(
    {
      delivery_no: column.ordinal(),
      /** Identifier of the token. */
      jti: column.text('UNIQUE'),
      subscriber_no: column.integer('REFERENCES agent_subscribers'),
      agent_no: column.integer('REFERENCES agents'),
      kill_no: column.optional(column.integer()),
      event: column.text(),
      /** Signed token. */
      jws: column.text(),
      /** Id of the message in the outbox. */
      message_id: column.text('UNIQUE'),
      state: column.oneOf(['pending', 'delivered', 'dead']),
      attempts: column.integer(),
      made_at: column.text(),
      delivered_at: column.optional(column.text()),
    },
    {
      indexes: {
        agent_set_deliveries_by_kill: '(kill_no)',
        agent_set_deliveries_by_subscriber: '(subscriber_no, delivery_no)',
      },
    },
  ),
};

const TRUST_TABLES = {
  /** Actions that agents reported; never changed. */
  agent_actions: table(
    {
      action_no: column.ordinal(),
      action_id: column.text(),
      agent_no: column.integer('REFERENCES agents'),
      received_at: column.text(),
      /** Signing time according to the agent; null without attestation. */
      signed_at: column.optional(column.text()),
      action_type: column.text(),
      action_description: column.text(),
      tool_used: column.optional(column.text()),
      api_called: column.optional(column.text()),
      input_hash: column.optional(column.text()),
      output_hash: column.optional(column.text()),
      model: column.optional(column.text()),
      version: column.optional(column.text()),
      decision: column.oneOf<ActionDecision>(['allowed', 'violation']),
      /** JSON of the violations. */
      violations: column.text(),
      attested: column.flag(),
      algorithm: column.optional(column.text()),
      signature: column.optional(column.text()),
      /** Hex SHA-256 of the RFC 8785 text of the sent content. */
      content_sha256: column.digest(),
      reported_by: column.text(),
      score_before: column.integer(),
      score_after: column.integer(),
      tier: column.text<TrustTier>(),
      /** JSON of sentences. */
      reasons: column.text(),
      entry_sequence: column.integer(),
      entry_hash: column.digest(),
    },
    {
      constraints: ['UNIQUE (agent_no, action_id)'],
      indexes: {
        agent_actions_by_agent: '(agent_no, action_no)',
        agent_actions_by_decision: '(agent_no, decision, action_no)',
        agent_violations: "(action_no) WHERE decision = 'violation'",
        agent_actions_by_time: '(received_at)',
        agent_violations_by_time: "(received_at) WHERE decision = 'violation'",
      },
      appendOnly: [['action_no'], ['agent_no', 'action_id']],
    },
  ),
  /** Outcomes of actions; never changed. */
  agent_outcomes: table(
    {
      outcome_no: column.ordinal(),
      outcome_id: column.text('UNIQUE'),
      action_no: column.integer('UNIQUE REFERENCES agent_actions'),
      agent_no: column.integer('REFERENCES agents'),
      outcome: column.oneOf<ActionOutcome>(['succeeded', 'failed', 'unknown']),
      output_hash: column.optional(column.text()),
      reported_at: column.text(),
      reported_by: column.text(),
      entry_sequence: column.integer(),
      entry_hash: column.digest(),
    },
    { appendOnly: [['outcome_no'], ['outcome_id'], ['action_no']] },
  ),
  /** Trust ledger; never changed. */
  agent_trust_lines: table(
    {
      agent_no: column.integer('REFERENCES agents'),
      /** Number among the lines of the agent, from 1. */
      entry_no: column.integer(),
      at: column.text(),
      rule: column.text<TrustRuleName>(),
      /** Points of the rule; the points given are the difference of the scores. */
      points: column.integer(),
      score_before: column.integer('CHECK (score_before BETWEEN 0 AND 100)'),
      score_after: column.integer('CHECK (score_after BETWEEN 0 AND 100)'),
      ceiling: column.integer('CHECK (ceiling BETWEEN 0 AND 100)'),
      ceiling_because: column.text<CeilingCause>(),
      action_id: column.optional(column.text()),
      /** JSON of the details. */
      detail: column.text(),
    },
    { constraints: ['PRIMARY KEY (agent_no, entry_no)'], appendOnly: [['agent_no', 'entry_no']] },
  ),
};

const VAULT_TABLES = {
  agent_vaults: table({
    agent_no: column.integer('PRIMARY KEY REFERENCES agents'),
    vault_id: column.text('UNIQUE'),
    /** Key of the vault, sealed. */
    sealed_key: column.bytes(),
    made_at: column.text(),
  }),
  /** Secrets of agents, including decoys, which are indistinguishable here. */
  agent_secrets: table(
    {
      secret_no: column.ordinal(),
      agent_no: column.integer('REFERENCES agents'),
      name: column.text(),
      /** Number from 1; each write adds one. */
      version: column.integer(),
      sealed: column.bytes(),
      put_at: column.text(),
      put_by: column.text(),
    },
    { constraints: ['UNIQUE (agent_no, name)'] },
  ),
  /** Leases of secrets that were handed out. */
  agent_leases: table(
    {
      lease_no: column.ordinal(),
      lease_id: column.text('UNIQUE'),
      agent_no: column.integer('REFERENCES agents'),
      /** Name of the secret, which may have been replaced or removed since. */
      name: column.text(),
      version: column.integer(),
      taken_at: column.text(),
      taken_by: column.text(),
      until_at: column.text(),
      ended_at: column.optional(column.text()),
      ended_because: column.optional(column.text()),
    },
    { indexes: { agent_leases_by_agent: '(agent_no, until_at)' } },
  ),
  agent_decoys: table(
    {
      decoy_no: column.ordinal(),
      decoy_id: column.text('UNIQUE'),
      agent_no: column.integer('REFERENCES agents'),
      sort: column.oneOf<DecoySort>(['secret', 'tool']),
      name: column.text(),
      /** Secret of the decoy; null for a tool, and for a secret that was removed. */
      secret_no: column.optional(column.integer()),
      /** Trap of the decoy. */
      credential_id: column.text('UNIQUE'),
      made_at: column.text(),
      made_by: column.text(),
      removed_at: column.optional(column.text()),
    },
    { uniqueIndexes: { agent_decoys_standing: '(agent_no, sort, name) WHERE removed_at IS NULL' } },
  ),
};

export const AGENT_TABLES = {
  agents: table(
    {
      agent_no: column.ordinal(),
      agent_id: column.text('UNIQUE'),
      name: column.text(),
      agent_type: column.text<AgentType>(),
      model: column.text(),
      version: column.text(),
      /** JSON of names, sorted and unique. */
      allowed_tools: column.text(),
      /** JSON of host names, sorted and unique. */
      allowed_apis: column.text(),
      prompt_sha256: column.optional(column.digest()),
      /** Hex SHA-256 over model, version, allowances and prompt: see `compositionDigest`. */
      composition: column.digest(),
      /** Time since which the composition differs from the passport and certificates; null if it does not. */
      composition_changed_at: column.optional(column.text()),
      /** Agent that delegates to this one. */
      parent_agent_id: column.optional(column.text('REFERENCES agents (agent_id)')),
      /**
       * Agent at the top of the family; the agent itself if it has no parent. Its row is locked before any change in
       * the family.
       */
      root_agent_id: column.text(),
      state: column.oneOf<AgentStateName>(['registered', 'active', 'suspended', 'revoked']),
      /** Cause of the suspension; null if the agent is not suspended. */
      suspended_because: column.optional(column.text<SuspensionCause>()),
      state_changed_at: column.text(),
      registered_at: column.text(),
      registered_by: column.text(),
      /** Time of the first onboarding. */
      onboarded_at: column.optional(column.text()),
      /** Time from which the days of promotion count: the first onboarding, or the last reinstatement. */
      trusted_since: column.optional(column.text()),
      /** `after` of the last line of the ledger. */
      score: column.integer('CHECK (score BETWEEN 0 AND 100)'),
      tier: column.text<TrustTier>(),
      /** Number of the last line of the ledger. */
      ledger_length: column.integer(),
      /** Time of the last attested compliant action. */
      attested_at: column.optional(column.text()),
      /** UTC day `YYYY-MM-DD` of the service's clock on which `attested_points` were earned. */
      attested_day: column.optional(column.text()),
      attested_points: column.integer(),
      /** Time at which the score next changes by itself; null if it does not. */
      due_at: column.optional(column.text()),
      /** Number of recorded actions. */
      actions: column.integer(),
    },
    {
      indexes: {
        agents_by_root: '(root_agent_id, agent_no)',
        agents_by_parent: '(parent_agent_id) WHERE parent_agent_id IS NOT NULL',
        agents_by_state: '(state, agent_no)',
        agents_by_tier: '(tier, agent_no)',
        agents_due: '(due_at) WHERE due_at IS NOT NULL',
      },
    },
  ),
  ...IDENTITY_TABLES,
  ...TRUST_TABLES,
  ...KILL_TABLES,
  ...VAULT_TABLES,
};

export type AgentTables = TablesOf<typeof AGENT_TABLES>;
