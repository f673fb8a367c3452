import type { Check, CheckFacts } from '../../db/check.ts'
import type { Db } from '../../db/client.ts'
import { readLastSealBefore, sealPurpose } from '../../events/seal.ts'
import { ledgerChecks } from '../../ledger/checks.ts'
import type { Parts } from '../../modules/parts.ts'
import { accessChecks } from './access.ts'
import { auditChainChecks } from './audit-chain.ts'
import { counterChecks } from './counters.ts'
import { entryChecks } from './entries.ts'
import { evidenceChecks } from './evidence.ts'
import { stateChecks } from './states.ts'

/** What the checks need besides the data. */
export const factsOf = ({
  config,
  clock,
  derivations,
  orderNames,
  vault,
}: Pick<Parts, 'config' | 'clock' | 'derivations' | 'orderNames' | 'vault'>): CheckFacts => ({
  now: clock.now(),
  since: null,
  eventRetentionDays: config.EVENT_RETENTION_DAYS,
  encryptionKeyIds: [...(config.ENCRYPTION_KEYS?.all.keys() ?? [])],
  tokenSecretIds: [...(config.TOKEN_SECRETS?.all.keys() ?? [])],
  open: (sealed, context) => {
    try {
      return vault.open(sealed, context)
    } catch {
      return undefined
    }
  },
  fingerprints: (text) => derivations.macs('fingerprint', text).map(({ mac }) => mac),
  orderOf: (seed, generation) => orderNames.orderOf(seed, generation),
  attemptOf: (order, send) => orderNames.attemptOf(order, send),
  sealMac: (keyId, digest) => derivations.macUnder(keyId, sealPurpose, digest),
})

export const checks: readonly Check[] = [
  ...ledgerChecks,
  ...stateChecks,
  ...counterChecks,
  ...accessChecks,
  ...entryChecks,
  ...evidenceChecks,
  ...auditChainChecks,
].sort((a, b) => Number(a.invariant.slice(1)) - Number(b.invariant.slice(1)))

/** A check and its breaches; it holds when `breaches` is empty. */
export type Result = Pick<Check, 'invariant' | 'promise'> & { breaches: string[] }

/** Checks the data against every promise that can be read from them. Only reads, and can run while the service does. */
export async function* verify(db: Db, facts: CheckFacts): AsyncGenerator<Result> {
  const sealed = facts.since === null ? undefined : await readLastSealBefore(db, facts.since)
  const period = { ...facts, sealedThrough: sealed?.transaction ?? '0' }
  for (const { invariant, promise, find } of checks) yield { invariant, promise, breaches: await find(db, period) }
}
