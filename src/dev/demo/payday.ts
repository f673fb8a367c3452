import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { decideByWallet, signInWithWallet } from '#client/wallet'
import { localUrl } from '../../lib/loopback.ts'
import { readEnvironment } from '../../process/environment.ts'
import { postJson } from '../sandbox/deliver.ts'
import { agreeTo, expectReady, expectSame, expectThere, followEvents, money, print, step, url } from './stage.ts'

const people = 50
/** The emulated provider fails payments to this number. */
const failing = '254700000001'

const payIn = async (reference: string, amountMinor: bigint): Promise<void> => {
  const { OPERATOR_HOST, OPERATOR_PORT } = readEnvironment()
  const address = `${localUrl(OPERATOR_HOST || '127.0.0.1', Number(OPERATOR_PORT || 3001))}/sandbox/control/deposits`
  const answer = await postJson(address, { reference, amount_minor: amountMinor.toString() }, 30_000)
  if (!answer.ok) throw new Error(`the emulated provider rejected the deposit: ${await answer.text()}`)
}

/** Salaries as a spreadsheet exports them to CSV. The payment to the last payee's phone fails. */
const salaries = (): { csv: string; totalMinor: bigint } => {
  const shillings = Array.from({ length: people }, (_, index) => 18_000 + index * 250)
  const phoneOf = (index: number) => (index === people - 1 ? failing : `0722${String(100_000 + index)}`)
  const rows = shillings.map(
    (amount, index) => `Employee ${index + 1},${phoneOf(index)},${amount}.00,March salary,E-${index + 1}`,
  )
  return {
    csv: ['name,phone,amount,narrative,metadata.employee', ...rows, ''].join('\n'),
    totalMinor: shillings.reduce((sum, amount) => sum + BigInt(amount) * 100n, 0n),
  }
}

export const playPayday = async (): Promise<void> => {
  await expectReady()

  step('A new wallet signs in and requires approval for every batch')
  const wallet = privateKeyToAccount(generatePrivateKey())
  const { client } = await signInWithWallet({ baseUrl: url }, wallet)
  const stream = await followEvents(client)
  await client.policies.create({ name: 'Salaries', approval_threshold_minor: '100000' })
  const { csv, totalMinor } = salaries()
  const total = totalMinor.toString()
  print(`${people} salaries come to ${money(total)}`)

  step('It asks for its deposit instructions')
  const deposit = await client.topups.initiate({ method: 'MPESA_PAYBILL' })
  const instructions = expectThere('the instructions', deposit.instructions)
  if (!('paybill' in instructions)) throw new Error('the instructions should name a paybill')
  print(`paybill ${instructions.paybill}, account number ${instructions.account_number}`)

  step('Someone pays in the total of the salaries at the bank')
  await payIn(instructions.account_number, totalMinor)
  await stream.waitFor('topup.succeeded', deposit.id)
  expectSame('the received amount', (await client.topups.get(deposit.id)).received_minor, total)
  print(`${money(total)} arrived in one deposit: a prompt on a phone moves at most KES 250,000.00`)

  step('One row is wrong: the check names it, and creates nothing')
  const wrong = await client.batches.checkCsv(csv.replace('0722100004', '72210004')).then(
    () => undefined,
    (error: { details: { items: { row: number; param: string; message: string }[] } }) => error.details.items,
  )
  const [fault] = expectThere('the refusal', wrong)
  print(`row ${fault?.row}, ${fault?.param}: ${fault?.message}`)
  expectSame('the row', [fault?.row, wrong?.length], [6, 1])

  step('The corrected batch is sent')
  const send = () => client.batches.fromCsv(csv, { name: 'Salaries March' }, { idempotencyKey: `salaries-${wallet.address}` })
  const batch = await send()
  expectSame('the batch', [batch.status, batch.items_count, batch.total_minor], ['pending_approval', people, total])
  expectSame('the same batch again', (await send()).id, batch.id)
  print(`${batch.id} waits for one approval; sent twice, it is one batch`)

  step('One signature approves the whole batch: the text has the total, the largest payment and the Merkle root of all lines')
  const approval = expectThere('the approval', batch.approval_id)
  const sign = () => decideByWallet({ baseUrl: url }, wallet, approval, { confirm: agreeTo(batch.merkle_root) })
  // A name check that ends after the text was read changes it: the new text is read, then signed.
  await sign().catch((error: { details?: { reason?: string } }) =>
    error.details?.reason === 'message_changed' ? sign() : Promise.reject(error),
  )

  step('Each payment is sent separately')
  const ended = await client.batches.waitFor(batch.id)
  expectSame('how they ended', [ended.status, ended.counts], ['completed', { succeeded: people - 1, failed: 1 }])
  const [failed, more] = await client.payments.list({ batch_id: batch.id, status: ['failed'] }).toArray(10)
  expectSame('the one that failed', [failed?.metadata.employee, more], [`E-${people}`, undefined])
  print(`${people - 1} succeeded; ${failed?.metadata.employee} failed: ${failed?.failure_message}`)

  step('The statement has every payment, and its balances add up')
  const statement = await client.account.statement()
  const left = BigInt(failed?.amount_minor ?? '0')
  const stated = [statement.in_minor, statement.out_minor, statement.closing_balance_minor]
  expectSame('the statement', stated, [total, (totalMinor - left).toString(), left.toString()])
  for (const line of (await client.account.statementCsv()).split('\n').slice(0, 4)) print(line.slice(0, 110))
  await stream.close()
}
