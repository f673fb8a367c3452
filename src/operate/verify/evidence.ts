import { recoverSigner } from '../../auth/recover-signer.ts'
import type { Check, CheckFacts } from '../../db/check.ts'
import type { Db } from '../../db/client.ts'
import type { Uuid } from '../../lib/ids.ts'
import { unpack } from '../../lib/packed-text.ts'
import type { RailName } from '../../lib/rail-names.ts'
import { parseWalletName } from '../../lib/wallet-name.ts'
import { destinationContext } from '../../modules/beneficiaries/queries.ts'
import { fingerprintText, maskOf } from '../../modules/beneficiaries/rules.ts'
import { rootOfLeaves } from '../../modules/payments/batch/leaf-rules.ts'
import { batchKeySql, seedOf } from '../../modules/payments/lost-writes.ts'
import { deliveryContext } from '../../modules/sending/deliveries.ts'
import { findInPages, typeIdSql } from './audit-log.ts'

/** A check of each row that a query returns after `$1`. */
const rowCheck = <Row extends { id: Uuid }>(
  promise: string,
  text: string,
  isValid: (row: Row, facts: CheckFacts) => boolean,
  take?: number,
): Check => ({
  invariant: 'I21',
  promise,
  find: (db, facts) =>
    findInPages<Row>(db, facts, text, (rows) => rows.filter((row) => !isValid(row, facts)).map(({ id }) => id), take),
})

type Destination = {
  id: Uuid
  workspaceId: Uuid
  rail: RailName
  ciphertext: Buffer
  keyId: string
  mask: string
  bankCode: string | null
  accountReference: string | null
  /** Null if the payee is in another workspace. */
  fingerprint: Buffer | null
}

const isOwnDestination = (row: Destination, facts: CheckFacts): boolean => {
  const { workspaceId, rail, bankCode, accountReference, fingerprint } = row
  const destination = facts.open(row, destinationContext(row.id, workspaceId))?.toString()
  if (destination === undefined || fingerprint === null) return false
  // The destination of a closed account is deleted.
  if (destination === '') return true
  const payee = { destination, bankCode, accountReference }
  const made = facts.fingerprints(fingerprintText(workspaceId, rail, payee))
  return maskOf(payee) === row.mask && made.some((each) => each.equals(fingerprint))
}

const destinations = rowCheck<Destination>(
  'the destination of every beneficiary matches its payee',
  `select t.id, t.workspace_id as "workspaceId", t.payment_rail as rail, t.destination_ciphertext as ciphertext, t.destination_key_id as "keyId",
         t.destination_mask as mask, t.bank_code as "bankCode", t.account_reference as "accountReference", y.fingerprint
       from beneficiaries t left join payees y on y.id = t.payee_id and y.workspace_id = t.workspace_id where t.id > $1`,
  isOwnDestination,
)

type Attempt = {
  id: Uuid
  orderId: Uuid
  reference: string
  generation: number
  send: number
  subjectId: Uuid
  kind: 'payment' | 'topup'
  accountId: Uuid
  workspaceId: Uuid
  idempotencyKey: string | null
  batchKey: string | null
  batchIndex: number | null
  isOfSubject: boolean
}

const isOwnAttempt = (attempt: Attempt, facts: CheckFacts): boolean => {
  const { kind, subjectId: id } = attempt
  // Release 0.4.0 and earlier named the items of a batch by their own ids, even if the batch had a key.
  const seeds = kind === 'topup' ? [['topup', id]] : [seedOf({ ...attempt, id }), seedOf({ ...attempt, id, batchKey: null })]
  const isOwn = (seed: readonly string[]): boolean => {
    const order = facts.orderOf(seed, attempt.generation)
    return (
      order.orderId === attempt.orderId &&
      order.reference === attempt.reference &&
      facts.attemptOf(order, attempt.send) === attempt.id
    )
  }
  return attempt.isOfSubject && seeds.some(isOwn)
}

const attempts = rowCheck<Attempt>(
  'every attempt matches its payment or top-up, and its ids are derived from it',
  `select t.id, t.order_id as "orderId", t.reference, t.generation, t.send, t.subject_id as "subjectId", t.kind, s.account_id as "accountId",
         s.workspace_id as "workspaceId", s.key as "idempotencyKey", s.batch_key as "batchKey", s.batch_index as "batchIndex", coalesce((t.account_id, t.amount_minor) = (s.account_id, s.amount_minor)
           and t.rail = coalesce(s.rail, t.rail), false) as "isOfSubject"
       from rail_attempts t left join lateral (
         select account_id, workspace_id, amount_minor, rail, idempotency_key as key, ${batchKeySql('p')} as batch_key, batch_index from payments p where p.id = t.subject_id and t.kind = 'payment'
         union all select account_id, workspace_id, amount_minor, null, null, null, null from topups u where u.id = t.subject_id and t.kind = 'topup') as s on true
       where t.id > $1 and t.updated_at >= $since`,
  isOwnAttempt,
)

type Batch = { id: Uuid; root: string; count: number; leaves: string[]; totalsAgree: boolean }

const batches = rowCheck<Batch>(
  'the count, total and Merkle root of every batch match its items',
  `select t.id, t.merkle_root as root, t.items_count as count, i.leaves, coalesce(i.sum, 0) = t.total_minor and i.agree as "totalsAgree"
       from payment_batches t cross join lateral (
         select sum(p.amount_minor), coalesce(array_agg(p.batch_leaf order by p.batch_index), '{}') as leaves,
           bool_and((p.workspace_id, p.account_id, p.currency) = (t.workspace_id, t.account_id, t.currency)
             and (p.batch_leaf::json->>'amount_minor', (p.batch_leaf::json->>'index')::int) = (p.amount_minor::text, p.batch_index)
             and p.batch_leaf::json->>'account_reference' is not distinct from p.account_reference) as agree
         from payments p where p.batch_id = t.id) as i
       where t.id > $1 and t.updated_at >= $since`,
  ({ root, count, leaves, totalsAgree }) => totalsAgree && leaves.length === count && rootOfLeaves(leaves) === root,
  // Fewer rows per page, because a batch has up to a thousand leaves of 300 bytes.
  20,
)

type Signed = { id: Uuid; message: string; signature: string; signer: string; binds: string[] }

/** Accepts contract signatures, because only the chain, which is not queried here, can verify them. */
const isSignedBy = ({ message, signature, signer }: Signed): boolean => {
  const wallet = parseWalletName(signer)
  if (!wallet) return false
  return wallet.chainId !== null || recoverSigner(message, signature)?.toLowerCase() === wallet.address
}

const signedTexts = (table: string, promise: string, columns: string, from: string): Check =>
  rowCheck<Signed>(
    promise,
    `select t.id, t.message, t.signature, t.signer, ${columns} as binds from ${table} t ${from}`,
    (row) => isSignedBy(row) && row.binds.every((line) => row.message.split('\n').includes(line)),
  )

const utc = (column: string): string => `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

const mandates = signedTexts(
  'intent_mandates',
  'every mandate matches the text that its wallet signed',
  `array['Terms digest: ' || t.terms_digest, 'Nonce: ' || t.nonce, 'Valid until: ' || ${utc('t.expires_at')}]`,
  'where t.id > $1 and t.created_at >= $since',
)

const decisions = signedTexts(
  'approval_decisions',
  'every signed decision matches its signed text and its approval',
  `array['Decision: ' || t.decision, 'Approval: ' || ${typeIdSql('approval', 't.approval_id')}]`,
  `where t.id > $1 and t.via = 'signature' and t.decided_at >= $since`,
)

type Delivery = { id: Uuid; ciphertext: Buffer; keyId: string; isAuthentic: boolean; names: string[] }

const possibleId = /[\w-]{8,}/g

const attemptIdsSql = `select unnest(array[provider_request, provider_conversation]) as name from rail_attempts
  where provider_request = any($1::text[]) or provider_conversation = any($1::text[])`

/** If a callback contains another attempt's provider id instead of its own, the two ids were swapped. */
const breachesOfBodies = async (db: Db, facts: CheckFacts, rows: readonly Delivery[]): Promise<string[]> => {
  const read = rows.map((row) => {
    const packed = row.isAuthentic ? facts.open(row, deliveryContext(row.id)) : undefined
    return { ...row, body: packed && unpack(packed) }
  })
  const doubtful = read.filter(({ body, names }) => body !== undefined && !names.every((name) => body.includes(name)))
  const words = doubtful.flatMap(({ body = '' }) => body.match(possibleId) ?? [])
  const others = words.length === 0 ? [] : await db.query<{ name: string | null }>(attemptIdsSql, [words])
  const isSwapped = ({ body = '', names }: (typeof read)[number]) =>
    others.some(({ name }) => name !== null && !names.includes(name) && body.includes(name))
  return read.filter((row) => row.body === undefined || (doubtful.includes(row) && isSwapped(row))).map(({ id }) => id)
}

const deliveries: Check = {
  invariant: 'I21',
  promise: 'every callback is stored as it arrived and names its own attempt',
  find: (db, facts) =>
    findInPages<Delivery>(
      db,
      facts,
      `select t.id, t.body_ciphertext as ciphertext, t.body_key_id as "keyId", coalesce(d.authentic, false) as "isAuthentic",
         case when d.verdict = 'applied' then array_remove(array[a.provider_request, a.provider_conversation], null) else '{}' end as names
       from callback_bodies t left join callback_deliveries d on d.id = t.id left join rail_attempts a on a.id = d.attempt_id
       where t.id > $1 and coalesce(d.received_at, $now) >= $since`,
      (rows) => breachesOfBodies(db, facts, rows),
    ),
}

export const evidenceChecks: readonly Check[] = [destinations, attempts, batches, mandates, decisions, deliveries]
