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
import { type Commands, command, idOf, parseFields, readList, UsageError } from './arguments.ts'
import type { Console } from './console.ts'

export const depositsBy = ({ deposits }: Rails) => depositRails.filter((rail) => deposits[rail])

const readPauses = async ({ db }: Console['deps']) =>
  (await listPauses(db)).map(({ pausedBy: paused_by, pausedAt: paused_at, ...pause }) => ({ ...pause, paused_by, paused_at }))

const changeRail = async ({ deps }: Console, name: string, change: (tx: Tx, rail: SendingRail) => Promise<unknown>) => {
  const rail = sendingRails.find((each) => each === name)
  if (!rail) throw new UsageError(`unknown rail "${name}": use one of ${sendingRails.join(', ')}`)
  await inTx(deps.db, (tx) => change(tx, rail))
  return readPauses(deps)
}

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
  reconcile: command(
    '<file>',
    "compares a provider's statement (CSV) with the books; exit status 1 if they differ",
    async ({ deps, operator }, [file]) => {
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
  ),
  'suspense list': command('', 'money that a provider moved and the service could not book', async ({ deps }) =>
    (await readList((page) => listSuspense(deps.db, 'open', page))).map(presentSuspense),
  ),
  'suspense show': command(
    '<item>',
    "one item, with the provider's original message if it could not be read or booked",
    async ({ deps }, [id]) => {
      const item = await findSuspense(deps.db, idOf('suspense', id))
      if (!item) throw new UsageError('item not found')
      const told = item.deliveryId === null ? null : await readDelivery(deps.db, deps.vault, item.deliveryId)
      return { ...presentSuspense(item), told }
    },
  ),
  'suspense resolve': command(
    '<item>… adjusted|reversed|explained --reason <text>',
    'closes items whose money is booked, returned or explained',
    async ({ deps, operator }, words, { reason }) => {
      const ids = words.slice(0, -1).map((item) => idOf('suspense', item))
      const input = parseFields(ResolveSuspense, { outcome: words.at(-1), note: reason })
      const resolve = (tx: Tx) => eachById(ids, (id) => resolveSuspense(tx, deps.config, operator, id, input))
      return (await inTx(deps.db, resolve)).map(presentSuspense)
    },
  ),
  'differences list': command('', 'open differences between the books and statements', async ({ deps }) =>
    (await readList((page) => listDifferences(deps.db, { open: true }, page))).map(presentDifference),
  ),
  'differences resolve': command(
    '<difference>… --reason <text>',
    'closes differences that a person has explained',
    async ({ deps, operator }, words, { reason }) => {
      const ids = words.map((item) => idOf('reconciliation', item))
      const input = parseFields(ResolveDifference, { note: reason })
      const resolve = (tx: Tx) => eachById(ids, (id) => resolveDifference(tx, deps.config, operator, id, input))
      return (await inTx(deps.db, resolve)).map(presentDifference)
    },
  ),
  'deliveries retry': command('', 'processes quarantined callbacks again', async ({ deps, operator }) => ({
    taken_up_again: await retryDeliveries(deps.db, operator),
  })),
  'rails check': command(
    '[--duplicate <phone>]',
    `checks credentials, certificate, callback address and clock; moves no money.
      --duplicate: pays KES 10 to your own phone over each rail, and sends each order again, which the provider must reject`,
    async (at, _, { duplicate }) => {
      if (duplicate !== undefined) return checkDuplicates(at, duplicate)
      const { db, config, clock } = at.deps
      for await (const each of configuredRailChecks(config, clock)) printCheck(each)
      const rails = realRails(config, clock)
      for (const each of await checkRegistrations(at.deps, depositsBy(rails))) printCheck(each)
      const problem = 'not tested: run rails check --duplicate <your phone>'
      for (const rail of await untestedRepeats(db, rails))
        printCheck({ requirement: `${rail} rejects a duplicate order`, problem })
    },
  ),
  'rails register': command('', 'registers our deposit callbacks with the providers', async ({ deps }) => {
    const rails = realRails(deps.config, deps.clock)
    rails.setTokenSharing(createTokenSharing(deps))
    for (const rail of depositsBy(rails)) {
      const { problem, step } = await registerDeposits({ ...deps, rails }, rail)
      if (problem !== null || step === null) printCheck({ requirement: rail, problem })
      if (step !== null) console.log(`TO DO   ${rail}: ${step}`)
    }
  }),
  'rails paused': command('', 'paused rails and the reasons', ({ deps }) => readPauses(deps)),
  'rails pause': command(
    `${sendingRails.join('|')} [--reason <text>]`,
    'sends no payment over a rail until it is resumed',
    (at, [name], { reason = 'paused by an operator' }) =>
      changeRail(at, name, (tx, rail) => pauseRail(tx, at.operator, rail, reason)),
  ),
  'rails resume': command(sendingRails.join('|'), 'sends the payments that wait for a rail', (at, [name]) =>
    changeRail(at, name, (tx, rail) => resumeRail(tx, at.operator, rail)),
  ),
} satisfies Commands
