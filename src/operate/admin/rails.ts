import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { configuredRailChecks, realRails } from '../../app-rails.ts'
import { inTx, type Tx } from '../../db/client.ts'
import { parseKenyanMobile } from '../../lib/phone.ts'
import { depositRails, railNames, type SendingRail, sendingRails } from '../../lib/rail-names.ts'
import { textOfFile } from '../../lib/table-file.ts'
import { checkRegistrations, registerDeposits } from '../../modules/deposits/registration.ts'
import { rememberDuplicateCheck, untestedRepeats } from '../../modules/exceptions/duplicate-checks-service.ts'
import { listPauses, pauseRail, resumeRail } from '../../modules/exceptions/pauses-service.ts'
import { listDifferences, presentDifference, presentReconciliation } from '../../modules/exceptions/reconciliation/differences.ts'
import { resolveDifference } from '../../modules/exceptions/reconciliation/resolve-difference.ts'
import { ResolveDifference } from '../../modules/exceptions/reconciliation/schema.ts'
import { reconcileStatement } from '../../modules/exceptions/reconciliation/service.ts'
import { eachById } from '../../modules/for-each-row.ts'
import { createTokenSharing } from '../../modules/provider-tokens/service.ts'
import { readDelivery } from '../../modules/sending/deliveries.ts'
import { retryDeliveries } from '../../modules/sending/quarantine.ts'
import { ResolveSuspense } from '../../modules/suspense/schema.ts'
import { findSuspense, listSuspense, presentSuspense, resolveSuspense } from '../../modules/suspense/service.ts'
import { checkDuplicate } from '../../rails/check.ts'
import { payouts } from '../../rails/definitions.ts'
import type { RailCheck, Rails } from '../../rails/rail.ts'
import { type Arguments, argumentAt, type Commands, idOf, parseFields, readList, UsageError } from './arguments.ts'
import type { Console } from './console.ts'

const railOf = (args: Arguments): SendingRail => {
  const name = argumentAt(args, 0, 'rail')
  const rail = sendingRails.find((each) => each === name)
  if (!rail) throw new UsageError(`unknown rail "${name}": use one of ${sendingRails.join(', ')}`)
  return rail
}

export const depositsBy = ({ deposits }: Rails) => depositRails.filter((rail) => deposits[rail])

const readPauses = async ({ db }: Console['deps']) =>
  (await listPauses(db)).map(({ pausedBy: paused_by, pausedAt: paused_at, ...pause }) => ({ ...pause, paused_by, paused_at }))

const printCheck = ({ requirement, problem }: RailCheck): boolean => {
  console.log(problem === null ? `ok      ${requirement}` : `FAILED  ${requirement}: ${problem}`)
  if (problem !== null) process.exitCode = 1
  return problem === null
}

/** Moves real money: KES 10, once on each rail. */
const checkDuplicates = async ({ deps, operator }: Console, phone: string): Promise<void> => {
  const destination = parseKenyanMobile(phone)
  if (destination === undefined) throw new UsageError(`"${phone}" is not a Kenyan mobile number`)
  const { config, clock, db } = deps
  const { payout, setTokenSharing } = realRails(config, clock)
  setTokenSharing(createTokenSharing(deps))
  const repeatable = railNames.flatMap((name) => {
    const rail = payout[name]
    return rail && payouts[name].repeat !== 'pays_again' ? [{ name, rail }] : []
  })
  if (repeatable.length === 0)
    throw new UsageError('RAILS has no real rail that detects duplicate order ids: there is nothing to test')
  for (const { name, rail } of repeatable) {
    const order = { rail: name, destination, currency: config.CURRENCY, at: clock.now(), operatorUrl: config.operatorUrl }
    if (printCheck(await checkDuplicate(rail, order)))
      await inTx(db, (tx) => rememberDuplicateCheck(tx, operator, { rail: name, account: rail.account }))
  }
  console.log('The provider’s statement will list these test payments. Resolve them as your own.')
}

export const railCommands = {
  reconcile: async ({ deps, operator }, args) => {
    const file = argumentAt(args, 0, 'file')
    const bytes = await readFile(file).catch(() => {
      throw new UsageError(`cannot read the file ${file}`)
    })
    const text = textOfFile(bytes)
    if (typeof text !== 'string') throw new UsageError(`the file ${file} ${text.problem}`)
    const rails = realRails(deps.config, deps.clock)
    const run = await reconcileStatement({ ...deps, rails }, operator, { source: basename(file), text })
    const reconciliationId = run.id
    const differences = await readList((page) => listDifferences(deps.db, { reconciliationId }, page))
    const [open] = await listDifferences(deps.db, { reconciliationId, open: true }, { before: null, take: 1 })
    if (open) process.exitCode = 1
    return { ...presentReconciliation(run), items: differences.map(presentDifference) }
  },
  'suspense list': async ({ deps }) => (await readList((page) => listSuspense(deps.db, 'open', page))).map(presentSuspense),
  'suspense show': async ({ deps }, args) => {
    const item = await findSuspense(deps.db, idOf('suspense', argumentAt(args, 0, 'item')))
    if (!item) throw new UsageError('item not found')
    const told = item.deliveryId === null ? null : await readDelivery(deps.db, deps.vault, item.deliveryId)
    return { ...presentSuspense(item), told }
  },
  'suspense resolve': async ({ deps, operator }, args) => {
    argumentAt(args, 1, 'outcome')
    const ids = args.words.slice(0, -1).map((item) => idOf('suspense', item))
    const input = parseFields(ResolveSuspense, { outcome: args.words.at(-1), note: args.options.reason })
    const resolve = (tx: Tx) => eachById(ids, (id) => resolveSuspense(tx, deps.config, operator, id, input))
    return (await inTx(deps.db, resolve)).map(presentSuspense)
  },
  'differences list': async ({ deps }) =>
    (await readList((page) => listDifferences(deps.db, { open: true }, page))).map(presentDifference),
  'differences resolve': async ({ deps, operator }, args) => {
    argumentAt(args, 0, 'difference')
    const ids = args.words.map((item) => idOf('reconciliation', item))
    const input = parseFields(ResolveDifference, { note: args.options.reason })
    const resolve = (tx: Tx) => eachById(ids, (id) => resolveDifference(tx, deps.config, operator, id, input))
    return (await inTx(deps.db, resolve)).map(presentDifference)
  },
  'deliveries retry': async ({ deps, operator }) => ({ taken_up_again: await retryDeliveries(deps.db, operator) }),
  'rails check': async (at, { options }) => {
    if (options.duplicate !== undefined) return checkDuplicates(at, options.duplicate)
    const { db, config, clock } = at.deps
    for await (const each of configuredRailChecks(config, clock)) printCheck(each)
    const rails = realRails(config, clock)
    for (const each of await checkRegistrations(at.deps, depositsBy(rails))) printCheck(each)
    const problem = 'not tested: run rails check --duplicate <your phone>'
    for (const rail of await untestedRepeats(db, rails)) printCheck({ requirement: `${rail} rejects a duplicate order`, problem })
  },
  'rails register': async ({ deps }) => {
    const rails = realRails(deps.config, deps.clock)
    rails.setTokenSharing(createTokenSharing(deps))
    for (const rail of depositsBy(rails))
      printCheck({ requirement: rail, problem: await registerDeposits({ ...deps, rails }, rail) })
  },
  'rails paused': ({ deps }) => readPauses(deps),
  'rails pause': async ({ deps, operator }, args) => {
    const rail = railOf(args)
    await inTx(deps.db, (tx) => pauseRail(tx, operator, rail, args.options.reason ?? 'paused by an operator'))
    return readPauses(deps)
  },
  'rails resume': async ({ deps, operator }, args) => {
    const rail = railOf(args)
    await inTx(deps.db, (tx) => resumeRail(tx, operator, rail))
    return readPauses(deps)
  },
} satisfies Commands
