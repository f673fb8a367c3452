import type { Check, CheckFacts } from '../../db/check.ts'
import type { Db } from '../../db/client.ts'
import { readLastSealBefore } from '../../events/seal.ts'
import { ledgerChecks } from '../../ledger/checks.ts'
import { accessChecks } from './access.ts'
import { auditChainChecks } from './audit-chain.ts'
import { authorityChecks } from './authority.ts'
import { counterChecks } from './counters.ts'
import { endedAccessChecks } from './ended-access.ts'
import { entryChecks } from './entries.ts'
import { evidenceChecks } from './evidence.ts'
import { stateChecks } from './states.ts'
import { traceChecks } from './traces.ts'

export const checks: readonly Check[] = [
  ...ledgerChecks,
  ...stateChecks,
  ...counterChecks,
  ...accessChecks,
  ...endedAccessChecks,
  ...authorityChecks,
  ...traceChecks,
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
