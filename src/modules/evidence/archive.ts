import { createHash } from 'node:crypto'
import { and, eq, lt, sql } from 'drizzle-orm'
import { balanceAccountsOf, type Principal } from '../../auth/principal.ts'
import { prepare } from '../../db/prepare.ts'
import { payments } from '../../db/tables/payments.ts'
import { spendingPolicies, spendingPolicyVersions } from '../../db/tables/policies.ts'
import { readLogHead } from '../../events/seal-proofs.ts'
import { csvLines, type ReadPages } from '../../http/csv.ts'
import { isoTime, isoTimeOrNull } from '../../lib/clock.ts'
import { formatId, type Uuid } from '../../lib/ids.ts'
import { chunksOf } from '../../lib/lists.ts'
import type { ArchiveFile } from '../../lib/zip.ts'
import { listWorkspaceAudit, presentAudit } from '../audit-log/queries.ts'
import { presentBeneficiary } from '../beneficiaries/present.ts'
import { listBeneficiaries } from '../beneficiaries/queries.ts'
import { listApprovals, presentApproval } from '../payments/approvals/queries.ts'
import { listPayments } from '../payments/queries.ts'
import { createReceiptBuilder, presentSigned, type ReceiptParts } from '../payments/receipt/service.ts'
import { signDocument, signHead } from '../proof/service.ts'
import { balancesOf, columnsOf, presentPeriod } from '../statements/present.ts'
import { entriesOf, type OpenStatement, openedOn, statementLines } from '../statements/service.ts'
import { presentMember } from '../workspaces/present.ts'
import { memberList } from '../workspaces/queries.ts'

/** `pages` stops reading if the caller's credential ends. */
type Reader = { principal: Principal; pages: ReadPages }
type Pages = AsyncGenerator<readonly object[]>
type Section = { name: string; about: string; pages: () => Pages }

/** Policy versions in force at any time of the period. */
const policyVersions = prepare(
  'evidence.policies',
  { workspaceId: 'uuid', start: 'timestamptz', end: 'timestamptz', policyId: 'uuid', version: 'int', take: 'rows' },
  'pool',
  (orm, param) => {
    const { policyId, version, document, createdAt } = spendingPolicyVersions
    const later = sql`select from ${spendingPolicyVersions} n where n.policy_id = ${policyId} and n.version = ${version} + 1 and n.created_at < ${param.start}`
    return orm
      .select({ policyId, version, document, since: createdAt, archivedAt: spendingPolicies.archivedAt })
      .from(spendingPolicies)
      .innerJoin(spendingPolicyVersions, eq(policyId, spendingPolicies.id))
      .where(
        and(
          eq(spendingPolicies.workspaceId, param.workspaceId),
          lt(createdAt, param.end),
          sql`coalesce(${spendingPolicies.archivedAt} >= ${param.start}, true) and not exists (${later})`,
          sql`(${policyId}, ${version}) > (${param.policyId}, ${param.version})`,
        ),
      )
      .orderBy(policyId, version)
      .limit(param.take)
  },
)

const earlierPayments = prepare(
  'evidence.earlier_payments',
  { ids: 'uuid[]', workspaceId: 'uuid', start: 'timestamptz' },
  'pool',
  (orm, param) =>
    orm
      .select({ id: payments.id })
      .from(payments)
      .where(
        and(
          sql`${payments.id} = any(${param.ids})`,
          eq(payments.workspaceId, param.workspaceId),
          lt(payments.createdAt, param.start),
        ),
      ),
)

const startPosition = '00000000-0000-0000-0000-000000000000 0'
/** The maximum lifetime of an approval, which may wait until a scheduled payment is due. */
const longestApprovalMs = 366 * 86_400_000
/** Number of receipts built at a time, so that their queries are sent together. */
const receiptsAtOnce = 25

const mapPages = async function* <Row>(pages: AsyncIterable<readonly Row[]>, map: (row: Row) => object): Pages {
  for await (const rows of pages) yield rows.map(map)
}

const receiptsOf = async function* (deps: ReceiptParts, { principal, pages }: Reader, opened: OpenStatement): Pages {
  const { source: db, period } = opened
  const { start, end } = period
  const workspaceId = principal.workspace.id
  const receiptOf = createReceiptBuilder(db, deps, workspaceId)
  const build = async function* (ids: readonly Uuid[]): Pages {
    for (const some of chunksOf(ids, receiptsAtOnce)) {
      const receipts = await Promise.all(some.map(receiptOf))
      yield receipts.filter((receipt) => receipt !== undefined)
    }
  }
  const createdInPeriod = { createdAfter: new Date(start.getTime() - 1), createdBefore: end }
  for await (const rows of pages((page) => listPayments(db, workspaceId, page, createdInPeriod)))
    yield* build(rows.map(({ id }) => id))
  // Payments that were created before the period and booked in it. One payment may have entries on several pages.
  const alreadyIncluded = new Set<Uuid>()
  for (const ownerId of balanceAccountsOf(principal.workspace)) {
    const statement = await openedOn(opened, ownerId, workspaceId)
    for await (const entries of pages(({ before, take }) => entriesOf(statement, before, take))) {
      const booked = new Set(
        entries.flatMap(({ paymentId }) => (paymentId && !alreadyIncluded.has(paymentId) ? [paymentId] : [])),
      )
      const rows = await db.run(earlierPayments, { ids: [...booked], workspaceId, start })
      for (const { id } of rows) alreadyIncluded.add(id)
      yield* build(rows.map(({ id }) => id))
    }
  }
}

const sectionsOf = (deps: ReceiptParts, { principal, pages }: Reader, opened: OpenStatement): Section[] => {
  const { source: db, period } = opened
  const { start, end } = period
  const { workspace } = principal
  const after = new Date(start.getTime() - 1)
  const activity = (action: string | undefined) => () =>
    mapPages(
      pages((page) =>
        listWorkspaceAudit(db, workspace.id, { action, created_after: after, created_before: end, limit: page.take }, page),
      ),
      presentAudit,
    )
  return [
    {
      name: 'approvals',
      about: 'Approvals pending during the period, with every decision, its signature and the signed text.',
      pages: async function* () {
        const filter = { createdAfter: new Date(start.getTime() - longestApprovalMs), createdBefore: end }
        const read = async (page: { before: string | null; take: number }) =>
          (await listApprovals(db, workspace.id, page, filter)).map((record) => ({ id: record.approval.id, record }))
        for await (const rows of pages(read))
          yield rows.flatMap(({ record }) =>
            record.approval.updatedAt < start && record.approval.status !== 'pending'
              ? []
              : [{ ...presentApproval(record), decisions: presentSigned(record).decisions }],
          )
      },
    },
    {
      name: 'policies',
      about: 'Every spending policy version in force during the period, with its start time.',
      pages: () =>
        mapPages(
          pages(async ({ before, take }) => {
            const [policyId = '', version] = (before ?? startPosition).split(' ')
            const position = { policyId, version: Number(version), take }
            const rows = await db.run(policyVersions, { workspaceId: workspace.id, start, end, ...position })
            return rows.map((row) => ({ ...row, id: `${row.policyId} ${row.version}` }))
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
      about: 'Policy changes with their actor, time and terms, including requested and withdrawn changes.',
      pages: activity('policy.'),
    },
    { name: 'activity', about: 'The audit log of the workspace.', pages: activity(undefined) },
    {
      name: 'beneficiaries',
      about: 'Beneficiaries created before the end of the period, as they are now, including archived ones.',
      pages: async function* () {
        const all = (page: { before: string | null; take: number }) =>
          listBeneficiaries(db, workspace.id, page, { status: 'all', limit: page.take })
        for await (const rows of pages(all)) yield rows.filter(({ createdAt }) => createdAt < end).map(presentBeneficiary)
      },
    },
    {
      name: 'members',
      about: 'The current members, to identify the people behind account IDs.',
      pages: () =>
        mapPages(
          pages((page) => db.run(memberList, { workspaceId: workspace.id, ...page })),
          presentMember,
        ),
    },
    {
      name: 'receipts',
      about: 'The receipt of each payment created or booked in the period.',
      pages: () => receiptsOf(deps, { principal, pages }, opened),
    },
  ]
}

/** Maximum lines in a file. Further lines go into another file. */
const maxLines = 10_000

const linesOf = async function* ({ name, pages }: Section): AsyncGenerator<ArchiveFile> {
  const read = pages()
  let next = await read.next()
  for (let part = 1; part === 1 || !next.done; part += 1) {
    const content = async function* () {
      for (let lines = 0; !next.done && lines < maxLines; next = await read.next()) {
        yield next.value.map((row) => `${JSON.stringify(row)}\n`).join('')
        lines += next.value.length
      }
    }
    yield { name: part === 1 ? `${name}.jsonl` : `${name}-${part}.jsonl`, content: content() }
  }
}

const singleChunk = async function* (text: string): AsyncGenerator<string> {
  yield text
}

/** Yields the files one by one, so that memory does not grow with the period. `manifest.json` is last, signed like receipts. */
export async function* evidenceFiles(deps: ReceiptParts, reader: Reader, opened: OpenStatement): AsyncGenerator<ArchiveFile> {
  const { principal, pages } = reader
  const { clock, config, receiptKeys } = deps
  const { period, summary, scope } = opened
  const files: { name: string; about: string; bytes: number; sha256: string }[] = []
  const listed = ({ name, content }: ArchiveFile, about: string): ArchiveFile => ({
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
  const stated = presentPeriod(period, config.CURRENCY, summary)
  yield listed(
    { name: 'statement.json', content: singleChunk(JSON.stringify({ ...stated, ...balancesOf(opened) })) },
    'The opening and closing balances and the totals of the period. Balances are null if the workspace shares its balance.',
  )
  const columns = columnsOf(period.zones, config.CURRENCY, scope.workspaceId === null)
  yield listed(
    { name: 'statement.csv', content: csvLines(columns, pages(statementLines(opened))) },
    'Ledger entries, oldest first.',
  )
  for (const section of sectionsOf(deps, reader, opened))
    for await (const file of linesOf(section)) yield listed(file, section.about)
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
    content: singleChunk(JSON.stringify({ ...document, jws: signDocument(receiptKeys, document, 'evidence-manifest') })),
  }
}
