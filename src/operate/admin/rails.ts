import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { configuredDeposits, configuredRailChecks, realRails } from '../../app-rails.ts'
import { inTx } from '../../db/client.ts'
import { parseKenyanMobile } from '../../lib/phone.ts'
import { railNames, type SendingRail, sendingRails } from '../../lib/rail-names.ts'
import { textOfFile } from '../../lib/table-file.ts'
import { checkRegistrations, registerDeposits } from '../../modules/deposits/receive.ts'
import { rememberDuplicateCheck, untestedRepeats } from '../../modules/exceptions/duplicate-checks-service.ts'
import { listPauses, pauseRail, resumeRail } from '../../modules/exceptions/pauses-service.ts'
import {
  listDifferences,
  presentDifference,
  presentReconciliation,
  resolveDifferences,
} from '../../modules/exceptions/reconciliation/differences.ts'
import { ResolveDifference } from '../../modules/exceptions/reconciliation/schema.ts'
import { reconcileStatement } from '../../modules/exceptions/reconciliation/service.ts'
import { createTokenSharing } from '../../modules/provider-tokens/service.ts'
import { readDelivery } from '../../modules/sending/deliveries.ts'
import { retryDeliveries } from '../../modules/sending/process-deliveries.ts'
import { ResolveSuspense } from '../../modules/suspense/schema.ts'
import { findSuspense, listSuspense, presentSuspense, resolveSuspenseItems } from '../../modules/suspense/service.ts'
import { checkDuplicate } from '../../rails/check.ts'
import { payouts } from '../../rails/definitions.ts'
import type { RailCheck } from '../../rails/rail.ts'
import { type Arguments, fieldsOf, idOf, UsageError, word } from './arguments.ts'
import type { Console } from './console.ts'

const everything = { before: null, take: 1000 }

const railOf = (words: Arguments): SendingRail => {
  const name = word(words, 0, 'rail')
  const rail = sendingRails.find((each) => each === name)
  if (!rail) throw new UsageError(`"${name}" is no rail: ${sendingRails.join(', ')}`)
  return rail
}

const reconcile = async (at: Console, words: Arguments): Promise<unknown> => {
  const file = word(words, 0, 'file')
  const bytes = await readFile(file).catch(() => {
    throw new UsageError(`the file ${file} cannot be read`)
  })
  const text = textOfFile(bytes)
  if (typeof text !== 'string') throw new UsageError(`the file ${file} ${text.problem}`)
  const { numbers } = realRails(at.deps.config, at.deps.clock)
  const run = await reconcileStatement({ ...at.deps, rails: { ...at.deps.rails, numbers } }, at.operator, {
    source: basename(file),
    text,
  })
  const differences = await listDifferences(at.deps.db, { reconciliationId: run.id }, everything)
  if (differences.some(({ resolvedAt }) => resolvedAt === null)) process.exitCode = 1
  return { ...presentReconciliation(run), items: differences.map(presentDifference) }
}

const say = ({ requirement, problem }: RailCheck): boolean => {
  console.log(`${problem === null ? 'ok     ' : 'MISSING'} ${requirement}${problem === null ? '' : `: ${problem}`}`)
  if (problem !== null) process.exitCode = 1
  return problem === null
}

/** Moves money: KES 10 by each rail, once. */
const checkDuplicates = async (at: Console, phone: string): Promise<undefined> => {
  const destination = parseKenyanMobile(phone)
  if (destination === undefined) throw new UsageError(`"${phone}" is no Kenyan mobile number`)
  const { config, clock, db } = at.deps
  const rails = realRails(config, clock)
  rails.shareTokens(createTokenSharing(at.deps))
  const { payout } = rails
  const repeatable = railNames.filter((name) => payout[name] && payouts[name].repeat !== 'pays_again')
  if (repeatable.length === 0)
    throw new UsageError('RAILS names no real rail that knows an order by an id of ours: there is nothing to test')
  for (const name of repeatable) {
    const rail = payout[name]
    if (!rail) continue
    const order = { rail: name, destination, currency: config.CURRENCY, at: clock.now(), operatorUrl: config.operatorUrl }
    const account = rail.account
    if (say(await checkDuplicate(rail, order)))
      await inTx(db, (tx) => rememberDuplicateCheck(tx, at.operator, { rail: name, account }))
  }
  console.log('The statement lists what was paid: it is no payment of anybody.')
}

const check = async (at: Console, { options }: Arguments): Promise<undefined> => {
  if (options.duplicate !== undefined) return checkDuplicates(at, options.duplicate)
  for await (const each of configuredRailChecks(at.deps.config, at.deps.clock)) say(each)
  for (const each of await checkRegistrations(
    at.deps.db,
    at.deps.config,
    at.deps.derivations,
    configuredDeposits(at.deps.config, at.deps.clock),
  ))
    say(each)
  for (const rail of await untestedRepeats(at.deps.db, realRails(at.deps.config, at.deps.clock)))
    say({
      requirement: `${rail} refuses the same order when it comes again`,
      problem: 'run rails check --duplicate <your phone>',
    })
}

export const railCommands = {
  reconcile,
  'suspense list': async (at: Console) => (await listSuspense(at.deps.db, 'open', everything)).map(presentSuspense),
  'suspense show': async (at: Console, words: Arguments) => {
    const item = await findSuspense(at.deps.db, idOf('suspense', word(words, 0, 'item')))
    if (!item) throw new UsageError('there is no such item')
    const told = item.deliveryId === null ? null : await readDelivery(at.deps.db, at.deps.vault, item.deliveryId)
    return { ...presentSuspense(item), told }
  },
  'suspense resolve': async (at: Console, words: Arguments) => {
    word(words, 1, 'outcome')
    const ids = words.words.slice(0, -1).map((item) => idOf('suspense', item))
    const input = fieldsOf(ResolveSuspense, { outcome: words.words.at(-1), note: words.options.reason })
    return (await inTx(at.deps.db, (tx) => resolveSuspenseItems(tx, at.deps.config, at.operator, ids, input))).map(
      presentSuspense,
    )
  },
  'differences list': async (at: Console) =>
    (await listDifferences(at.deps.db, { reconciliationId: undefined, isOpen: true }, everything)).map(presentDifference),
  'differences resolve': async (at: Console, words: Arguments) => {
    word(words, 0, 'difference')
    const ids = words.words.map((item) => idOf('reconciliation', item))
    const { note } = fieldsOf(ResolveDifference, { note: words.options.reason })
    return (await inTx(at.deps.db, (tx) => resolveDifferences(tx, at.deps.config, at.operator, ids, note))).map(presentDifference)
  },
  'deliveries retry': async (at: Console) => ({ taken_up_again: await retryDeliveries(at.deps.db, at.operator) }),
  'rails check': check,
  'rails register': async (at: Console): Promise<undefined> => {
    const rails = realRails(at.deps.config, at.deps.clock)
    for (const rail of configuredDeposits(at.deps.config, at.deps.clock)) {
      const problem = await registerDeposits({ ...at.deps, rails }, rail)
      say({ requirement: rail, problem })
    }
  },
  'rails paused': async (at: Console) => listPauses(at.deps.db),
  'rails pause': async (at: Console, words: Arguments) => {
    const rail = railOf(words)
    await inTx(at.deps.db, (tx) => pauseRail(tx, at.operator, rail, words.options.reason ?? 'paused by an operator'))
    return listPauses(at.deps.db)
  },
  'rails resume': async (at: Console, words: Arguments) => {
    const rail = railOf(words)
    await inTx(at.deps.db, (tx) => resumeRail(tx, at.operator, rail))
    return listPauses(at.deps.db)
  },
}
