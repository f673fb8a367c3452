import { and, desc, eq, sql } from 'drizzle-orm'
import { decidingRoles } from '../../auth/permissions.ts'
import { type Db, inTx, statement } from '../../db/client.ts'
import { personNameSql } from '../../db/person-names-sql.ts'
import { prepare } from '../../db/prepare.ts'
import { insertRows, prepareWrite } from '../../db/prepare-write.ts'
import { selectRow } from '../../db/select-rows.ts'
import { identities } from '../../db/tables/accounts.ts'
import { emailKeyOf, namesSql } from '../../db/tables/columns.ts'
import { mails, mailTenantSql, type notificationSettings } from '../../db/tables/mail.ts'
import { createTurns, queueInTurn } from '../../jobs/turns.ts'
import type { Worker } from '../../jobs/worker.ts'
import { daysAfter, isoTime, secondsAfter } from '../../lib/clock.ts'
import { emailKey, emailKeySql } from '../../lib/email-key.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { assertPresent, only } from '../../lib/lists.ts'
import { quoted } from '../../lib/text.ts'
import { effectiveTimeZone, type ZoneSchedule } from '../../policy/calendar.ts'
import type { Parts } from '../parts.ts'
import { composeMail, layOut, type OpenedMail, timeIn } from './render.ts'
import { addressMail, type MailContent, type MailKind, type MailRow, mailContext, mailKinds } from './service.ts'
import { createTransport, type Outcome, type Transport } from './transport.ts'

// A row is its own queue entry (`due_at`). A row without an address becomes one row per address; a row with an address is sent.
// Its id is the Message-ID: if a process dies before it records the server's answer, readers see the repeated mail only once.

/** Pauses between tries, an hour in total. */
const pausesSeconds = [60, 120, 240, 480, 900, 1800]

/** The lease is longer than a mail server may take. */
const queue = queueInTurn('mails', { table: 'mails', tenant: mailTenantSql, due: 'due_at', leaseSeconds: 120 })
const findMail = selectRow('mails.by_id', mails, ['id'], { connection: 'pool' })

type Recipient = { accountId: Uuid; email: string } & Pick<typeof notificationSettings.$inferSelect, 'language'> & {
    wants: Record<string, boolean> | null
  }
/** Reads each verified address of each account once. The query is SQL text, because an account may have no settings. */
const readRecipients = statement('mails.recipients')`
  select distinct on (a.id, ${emailKeySql('i.email')}) a.id as "accountId", i.email, coalesce(s.language, 'en') as language,
     case when s.account_id is not null then json_build_object('approvals', s.approvals_email, 'lists', s.lists_email,
       'balance', s.balance_email, 'policies', s.policies_email) end as wants
   from (select unnest($1::uuid[]) union select m.account_id from members m
       where m.workspace_id = $2 and m.status = 'active' and m.role in ${namesSql(decidingRoles)}) as told(id)
     cross join lateral (select id, status from accounts where id = told.id offset 0) as a
     join identities i on i.account_id = a.id left join notification_settings s on s.account_id = a.id
   where a.status <> 'closed' and i.email_verified and i.email is not null
   order by a.id, ${emailKeySql('i.email')}, i.id`

const newestSent = prepare('mails.newest', { take: 'rows' }, (orm, param) =>
  orm
    .select()
    .from(mails)
    .where(sql`${mails.state} = 'sent' and ${mails.addressCiphertext} is not null`)
    .orderBy(desc(mails.endedAt), desc(mails.id))
    .limit(param.take),
)

const removeMail = prepareWrite('mails.remove', { id: 'uuid' }, (orm, param) => orm.delete(mails).where(eq(mails.id, param.id)))
const writeEnd = prepareWrite('mails.end', { id: 'uuid', state: 'text', at: 'timestamptz' }, (orm, param) =>
  orm
    .update(mails)
    .set({ state: param.state, dueAt: null, endedAt: param.at })
    .where(and(eq(mails.id, param.id), sql`${mails.state} = 'due'`)),
)
const writeTry = prepareWrite('mails.try_again', { id: 'uuid', dueAt: 'timestamptz', tries: 'int' }, (orm, param) =>
  orm
    .update(mails)
    .set({ dueAt: param.dueAt, tries: param.tries })
    .where(and(eq(mails.id, param.id), sql`${mails.state} = 'due'`)),
)
const writeRefusal = prepareWrite(
  'identities.mail_refused',
  { accountId: 'uuid', email: 'text', refusedAt: 'timestamptz|null' },
  (orm, param) =>
    orm
      .update(identities)
      .set({ mailRefusedAt: param.refusedAt })
      .where(
        and(
          eq(identities.accountId, param.accountId),
          eq(emailKeyOf(identities.email), param.email),
          sql`${identities.mailRefusedAt} is distinct from ${param.refusedAt}`,
        ),
      ),
)

const openMail = ({ vault }: Pick<Parts, 'vault'>, { id, addressCiphertext, addressKeyId, ...row }: MailRow): OpenedMail => {
  const sealed = { ciphertext: assertPresent(addressCiphertext, 'an address'), keyId: assertPresent(addressKeyId, 'its key') }
  const [address, secret] = JSON.parse(vault.open(sealed, mailContext(id))) as [string, string | null]
  return { kind: row.kind as MailKind, language: row.language, content: row.content as MailContent, address, secret }
}

/** Undefined if no key of this process decrypts the address: the key may have been retired too early. */
const tryOpening = (deps: Pick<Parts, 'vault'>, row: MailRow): OpenedMail | undefined => {
  try {
    return openMail(deps, row)
  } catch {
    return undefined
  }
}

const readNames = statement('mails.names')`
  select case when w.id = $1 then w.name end as workspace, ${personNameSql('$2::uuid')} as person,
     w.time_zone as "timeZone", w.next_time_zone as "nextTimeZone", w.next_time_zone_from as "nextTimeZoneFrom"
   from (select) as one left join workspaces w on w.id = coalesce($1, (select id from workspaces where owning_account_id = $3 and kind = 'personal'))`
type Names = { workspace: string | null; person: string | null } & (ZoneSchedule | { timeZone: null })

const namesIn = (by: MailContent['by'], { workspace, person }: Names) => {
  const name = by ? quoted(person ?? formatId('account', by.accountId)) : null
  return { workspace: workspace && quoted(workspace), by: by?.label && name ? `${quoted(by.label)} (${name})` : name }
}

type SendDeps = Pick<Parts, 'alerts' | 'clock' | 'config' | 'db' | 'derivations' | 'logger' | 'vault'>

const expandRecipients = (deps: SendDeps, row: MailRow, isOff: boolean): Promise<void> =>
  inTx(deps.db, async (tx) => {
    const { to = [], except, by, ...rest } = row.content as MailContent
    const setting = mailKinds[row.kind as MailKind]
    const audience = to === 'deciders' ? ([[], row.workspaceId] as const) : ([to, null] as const)
    const [recipients, names] = await Promise.all([
      isOff ? [] : tx.query<Recipient>(readRecipients, audience),
      tx.query<Names>(readNames, [row.workspaceId, by?.accountId ?? null, audience[0]?.[0] ?? null]).then(only),
    ])
    const zone = names.timeZone === null ? undefined : effectiveTimeZone(names, tx.at)
    const content = { ...rest, zone, values: { ...namesIn(by, names), ...rest.values } }
    const rows = recipients
      .filter(({ accountId, wants }) => accountId !== except && (setting === null || (wants?.[setting] ?? true)))
      .map(({ accountId, email, language }) =>
        addressMail(deps, { ...row, content, dueAt: tx.at }, { accountId, email, language }),
      )
    await insertRows(tx, mails, rows, 'on conflict (cause) do nothing')
    tx.defer(tx.run(removeMail, { id: row.id }))
  })

const recordOutcome = async (deps: SendDeps, row: MailRow, outcome: Outcome, address: string): Promise<void> => {
  const { clock, db, logger, alerts } = deps
  const { id, accountId, kind, tries } = row
  if (typeof outcome === 'object') {
    const pause = pausesSeconds[tries]
    logger.warn({ mail: id, kind, tries: tries + 1, problem: outcome.retry }, 'mail not accepted; it will be retried')
    if (pause !== undefined) {
      await db.run(writeTry, { id, dueAt: secondsAfter(clock.now(), pause), tries: tries + 1 })
      return
    }
    alerts.raise('work_failing', { subject: 'mails', id })
  }
  const state = outcome === 'sent' || outcome === 'refused' ? outcome : 'given_up'
  await db.run(writeEnd, { id, state, at: clock.now() })
  if (accountId !== null && state !== 'given_up')
    await db.run(writeRefusal, { accountId, email: emailKey(address), refusedAt: state === 'refused' ? clock.now() : null })
}

/**
 * An account gets mail only at its own verified addresses. Mail about a workspace goes only to members, unless it is about the
 * account's own keys. Not sent: mail about decided approvals, settled policy changes, and accepted or withdrawn invitations.
 */
const readObsolete = statement('mails.is_obsolete')`
  select $1::uuid is not null and not exists (select from accounts a join identities i on i.account_id = a.id
       where a.id = $1 and a.status <> 'closed' and i.email_verified and ${emailKeySql('i.email')} = $2
         and ($3::uuid is null or exists (select from members m where m.workspace_id = $3 and m.account_id = a.id and m.status = 'active')))
     or $4 = 'approval' and exists (select from approvals where id = $5 and status <> 'pending')
     or $4 = 'policy' and not exists (select from spending_policies where id = $5 and pending_change_at = $6)
     or $4 = 'invitation' and exists (select from invitations where id = $5 and num_nonnulls(accepted_at, revoked_at) > 0) as "isObsolete"`

const isObsolete = async (db: Db, { accountId, subjectKind, subjectId, createdAt, ...row }: MailRow, address: string) => {
  const workspaceId = row.kind === 'new_key' ? null : row.workspaceId
  const values = [accountId, emailKey(address), workspaceId, subjectKind, subjectId, createdAt]
  return only(await db.query<{ isObsolete: boolean | null }>(readObsolete, values)).isObsolete === true
}

const processMail = async (deps: SendDeps, transport: Transport | null, id: Uuid): Promise<void> => {
  const row = await findMail(deps.db, { id })
  if (row?.state !== 'due') return
  if (row.addressCiphertext === null) return expandRecipients(deps, row, transport === null)
  const opened = tryOpening(deps, row)
  if (!opened) return recordOutcome(deps, row, { retry: 'its address cannot be decrypted' }, '')
  const isStopped = transport === null || (await isObsolete(deps.db, row, opened.address))
  const composed = composeMail(deps.config.publicUrl, opened)
  const outcome = isStopped ? 'rejected' : await transport({ id, to: opened.address, ...layOut(row.language, composed) })
  await recordOutcome(deps, row, outcome, opened.address)
}

/** In the sandbox, a mail counts as sent once the sandbox's page can show it. */
const transportOf = (config: SendDeps['config']): Transport | null => {
  if (config.mailDelivery === 'smtp') return createTransport(config)
  return config.mailDelivery === 'sandbox' ? async () => 'sent' : null
}

export const createMailWorker = (deps: SendDeps): Worker => {
  const transport = transportOf(deps.config)
  return { name: 'mails', limit: 4, claim: createTurns(deps, queue, ({ id }) => processMail(deps, transport, id)) }
}

/** The newest mails, for the sandbox's page. */
export const newestMails = async (deps: Pick<Parts, 'config' | 'db' | 'vault'>) =>
  (await deps.db.run(newestSent, { take: 50 })).map((row) => {
    const opened = openMail(deps, row)
    const { language, endedAt, createdAt } = row
    const at = timeIn(language, opened.content.zone)(isoTime(endedAt ?? createdAt))
    return { ...composeMail(deps.config.publicUrl, opened), to: opened.address, language, at }
  })

/** Removes old mails. For approvals, the record of who was told is kept. */
const forget = statement('mails.forget')`
  with old as materialized (select id, subject_kind from mails where ended_at < $1 and address_ciphertext is not null order by ended_at limit 1000 for update skip locked),
     removed as (delete from mails where id = any(array(select id from old where subject_kind is distinct from 'approval'))),
     emptied as (update mails set address_ciphertext = null, address_key_id = null, content = '{}'
       where id = any(array(select id from old where subject_kind = 'approval')))
   select count(*)::int as count from old`
const keptDays = 30

export const forgetMails = async ({ db, clock }: Pick<Parts, 'clock' | 'db'>): Promise<void> => {
  for (let count = 1000; count === 1000; )
    count = (await db.query<{ count: number }>(forget, [daysAfter(clock.now(), -keptDays)]))[0]?.count ?? 0
}
