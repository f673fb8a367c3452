import { createHash } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import { statement } from '../../db/client.ts'
import { readLogHead } from '../../events/seal.ts'
import { csvLines, pagesOf } from '../../http/csv.ts'
import { isoTime, isoTimeOrNull } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import type { ArchiveFile } from '../../lib/zip.ts'
import { listWorkspaceAudit, presentAudit } from '../audit-log/queries.ts'
import { presentBeneficiary } from '../beneficiaries/present.ts'
import { listBeneficiaries } from '../beneficiaries/queries.ts'
import type { Parts } from '../parts.ts'
import { listApprovals, presentApproval } from '../payments/approvals/queries.ts'
import { listPayments } from '../payments/queries.ts'
import { buildReceipt, presentSigned } from '../payments/receipt/receipt.ts'
import { signDocument, signHead } from '../proof/service.ts'
import { balancesOf, columnsOf, presentPeriod } from '../statements/present.ts'
import { entriesOf, type Opened, readLines } from '../statements/service.ts'
import { presentMember } from '../workspaces/present.ts'
import { memberList } from '../workspaces/queries.ts'

type Deps = Pick<Parts, 'clock' | 'config' | 'receiptKeys'>
type Pages = AsyncGenerator<readonly object[]>
type Section = { name: string; about: string; pages: () => Pages }

/** The versions that held at a time of the period. */
const policyVersions = statement(
  'evidence.policies',
  `select v.policy_id || ' ' || v.version as id, v.document, v.created_at as since, p.archived_at as "archivedAt"
   from spending_policies p join spending_policy_versions v on v.policy_id = p.id
   where p.workspace_id = $1 and v.created_at < $3 and coalesce(p.archived_at >= $2, true)
     and not exists (select from spending_policy_versions n where n.policy_id = v.policy_id and n.version = v.version + 1 and n.created_at < $2)
     and (v.policy_id, v.version) > ($4::uuid, $5::int)
   order by v.policy_id, v.version limit $6`,
)

const earlierPayments = statement(
  'evidence.earlier_payments',
  `select id, completed_at as "completedAt" from payments where id = any($1::uuid[]) and workspace_id = $2 and created_at < $3`,
)

const firstPlace = '00000000-0000-0000-0000-000000000000 0'
/** An approval lives this long at most, where it waits for a payment's day. */
const longestApprovalMs = 366 * 86_400_000
/** Receipts that are built at a time: their queries are sent together. */
const together = 10

const mapped = async function* <Row>(pages: AsyncIterable<readonly Row[]>, map: (row: Row) => object): Pages {
  for await (const rows of pages) yield rows.map(map)
}

const chunks = <Row>(rows: readonly Row[]): Row[][] =>
  Array.from({ length: Math.ceil(rows.length / together) }, (_, index) => rows.slice(index * together, (index + 1) * together))

const receiptsOf = async function* (deps: Deps, request: FastifyRequest, opened: Opened): Pages {
  const { source: db, period } = opened
  const { start, end } = period
  const workspaceId = request.principal.workspace.id
  const build = async function* (ids: readonly Uuid[]): Pages {
    for (const some of chunks(ids)) {
      const receipts = await Promise.all(some.map((id) => buildReceipt(db, deps, workspaceId, id)))
      yield receipts.filter((receipt) => receipt !== undefined)
    }
  }
  const made = { createdAfter: new Date(start.getTime() - 1), createdBefore: end }
  for await (const rows of pagesOf(request, (page) => listPayments(db, workspaceId, page, made)))
    yield* build(rows.filter(({ createdAt }) => createdAt >= start).map(({ id }) => id))
  // Made before the period and booked in it: by its payment, or by a return of one that was paid before.
  for await (const entries of pagesOf(request, ({ before, take }) => entriesOf(opened, before, take))) {
    const booked = new Map(entries.flatMap(({ paymentId, type }) => (paymentId ? [[paymentId, type] as const] : [])))
    const rows = await db.query<{ id: Uuid; completedAt: Date | null }>(earlierPayments, [[...booked.keys()], workspaceId, start])
    const isNew = ({ id, completedAt }: (typeof rows)[number]) =>
      booked.get(id) !== 'payment_return' || (completedAt !== null && completedAt < start)
    yield* build(rows.filter(isNew).map(({ id }) => id))
  }
}

const sectionsOf = (deps: Deps, request: FastifyRequest, opened: Opened): Section[] => {
  const { source: db, period } = opened
  const { start, end } = period
  const { workspace } = request.principal
  const after = new Date(start.getTime() - 1)
  const activity = (action: string | undefined) => () =>
    mapped(
      pagesOf(request, (page) =>
        listWorkspaceAudit(db, workspace.id, { action, created_after: after, created_before: end, limit: page.take }, page),
      ),
      presentAudit,
    )
  return [
    {
      name: 'approvals',
      about: 'Approvals that waited during the period, with every decision, its signature and the text that was signed.',
      pages: async function* () {
        const asked = { createdAfter: new Date(start.getTime() - longestApprovalMs), createdBefore: end }
        const read = async (page: { before: string | null; take: number }) =>
          (await listApprovals(db, workspace.id, page, asked)).map((record) => ({ id: record.approval.id, record }))
        for await (const rows of pagesOf(request, read))
          yield rows.flatMap(({ record }) =>
            record.approval.updatedAt < start && record.approval.status !== 'pending'
              ? []
              : [{ ...presentApproval(record), decisions: presentSigned(record).decisions }],
          )
      },
    },
    {
      name: 'policies',
      about: 'Each version of a spending policy that held at a time of the period, with the time from which it held.',
      pages: () =>
        mapped(
          pagesOf(request, ({ before, take }) => {
            const [id, version] = (before ?? firstPlace).split(' ')
            return db.query<{ id: string; document: object; since: Date; archivedAt: Date | null }>(policyVersions, [
              ...[workspace.id, start, end],
              ...[id, Number(version), take],
            ])
          }),
          ({ document, since, archivedAt }) => ({
            held_from: isoTime(since),
            archived_at: isoTimeOrNull(archivedAt),
            policy: document,
          }),
        ),
    },
    {
      name: 'policy-changes',
      about: 'Who changed a policy, when, from what to what; changes that were asked for and withdrawn too.',
      pages: activity('policy.'),
    },
    { name: 'activity', about: 'The audit log of the workspace.', pages: activity(undefined) },
    {
      name: 'beneficiaries',
      about: 'Every payee that there was until the end of the period, as it is now, archived ones too.',
      pages: async function* () {
        const all = (page: { before: string | null; take: number }) =>
          listBeneficiaries(db, workspace.id, page, { status: 'all', limit: page.take })
        for await (const rows of pagesOf(request, all))
          yield rows.filter(({ createdAt }) => createdAt < end).map(presentBeneficiary)
      },
    },
    {
      name: 'members',
      about: 'The members as they are now: who stands behind the ids of accounts.',
      pages: () =>
        mapped(
          pagesOf(request, (page) => db.run(memberList, { workspaceId: workspace.id, ...page })),
          presentMember,
        ),
    },
    {
      name: 'receipts',
      about: 'The receipt of each payment that was made in the period, or booked in it.',
      pages: () => receiptsOf(deps, request, opened),
    },
  ]
}

/** A file of lines has this many at most; what follows is in another one. */
const mostLines = 10_000

const linesOf = async function* ({ name, pages }: Section): AsyncGenerator<ArchiveFile> {
  const read = pages()
  let next = await read.next()
  for (let part = 1; part === 1 || !next.done; part += 1) {
    const content = async function* () {
      for (let lines = 0; !next.done && lines < mostLines; next = await read.next()) {
        yield next.value.map((row) => `${JSON.stringify(row)}\n`).join('')
        lines += next.value.length
      }
    }
    yield { name: part === 1 ? `${name}.jsonl` : `${name}-${part}.jsonl`, content: content() }
  }
}

const whole = async function* (text: string): AsyncGenerator<string> {
  yield text
}

/**
 * What an auditor asks for, each file in turn, so that memory does not grow with the period. Ends with `manifest.json`: the SHA-256 of each, signed as
 * receipts are.
 */
export async function* evidenceFiles(deps: Deps, request: FastifyRequest, opened: Opened): AsyncGenerator<ArchiveFile> {
  const { principal } = request
  const { clock, config, receiptKeys } = deps
  const { period, summary, of } = opened
  const stated = presentPeriod(period, config.CURRENCY, summary)
  const files: { name: string; about: string; bytes: number; sha256: string }[] = []
  const noted = ({ name, content }: ArchiveFile, about: string): ArchiveFile => ({
    name,
    content: (async function* () {
      const hash = createHash('sha256')
      let bytes = 0
      for await (const text of content) {
        hash.update(text)
        bytes += Buffer.byteLength(text)
        yield text
      }
      files.push({ name, about, bytes, sha256: hash.digest('hex') })
    })(),
  })
  const balances = of.workspaceId === null ? balancesOf(summary) : { opening_balance_minor: null, closing_balance_minor: null }
  yield noted(
    { name: 'statement.json', content: whole(JSON.stringify({ ...stated, ...balances })) },
    'The opening and the closing balance, and the sums of the period; balances are null where the balance is shared.',
  )
  const columns = columnsOf(period.timeZone, config.CURRENCY, of.workspaceId === null)
  yield noted(
    { name: 'statement.csv', content: csvLines(columns, pagesOf(request, readLines(opened))) },
    'What was booked, oldest first.',
  )
  for (const section of sectionsOf(deps, request, opened))
    for await (const file of linesOf(section)) yield noted(file, section.about)
  const document = {
    type: 'evidence',
    version: 1,
    issuer: config.publicUrl,
    issued_at: isoTime(clock.now()),
    requested_by: formatId('account', principal.accountId),
    workspace: { id: formatId('workspace', principal.workspace.id), name: principal.workspace.name },
    period: { from: period.from, to: period.to, time_zone: period.timeZone, unfinished_at: isoTimeOrNull(period.unfinishedAt) },
    log_head: signHead(config, receiptKeys, await readLogHead(opened.source)),
    files,
  }
  yield {
    name: 'manifest.json',
    content: whole(JSON.stringify({ ...document, jws: signDocument(receiptKeys, document, 'evidence-manifest') })),
  }
}
