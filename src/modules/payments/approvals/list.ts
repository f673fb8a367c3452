import { desc, eq, sql } from 'drizzle-orm'
import type { QueryBuilder } from 'drizzle-orm/pg-core'
import type { Db } from '../../../db/client.ts'
import { amongIds, newestFirst, ownedBy } from '../../../db/list-queries.ts'
import { prepare } from '../../../db/prepare.ts'
import { approvalDecisions, approvals } from '../../../db/tables/approvals.ts'
import { beneficiaries } from '../../../db/tables/beneficiaries.ts'
import { grants } from '../../../db/tables/grants.ts'
import { payments } from '../../../db/tables/payments.ts'
import { togetherByIds } from '../../../db/together.ts'
import type { PageRequest } from '../../../http/pagination.ts'
import type { Uuid } from '../../../lib/ids.ts'
import { type Histories, historiesOf } from './context.ts'
import {
  type ApprovalRecord,
  type ApprovalRow,
  firstPayment,
  itsGrant,
  itsPayee,
  itsPayment,
  selectDecisions,
  selection,
  withBatches,
  withDecisions,
} from './queries.ts'

/** In a list that is what the histories of those that wait say too, which it reads for them. */
const listed = {
  ...selection,
  firstPayment: sql<boolean | null>`case when ${approvals.status} <> 'pending' then ${firstPayment} end`,
}

const selectListed = (orm: QueryBuilder) =>
  orm.select(listed).from(approvals).innerJoin(payments, itsPayment).innerJoin(beneficiaries, itsPayee).leftJoin(grants, itsGrant)

const selectOfList = prepare(
  'approvals.decisions_of_list',
  { ids: 'uuid[]' },
  (orm, at) => selectDecisions(orm, sql`${approvalDecisions.approvalId} = any(${at.ids})`),
  'page',
)
const decisionsOfList = togetherByIds(
  (db, ids) => db.run(selectOfList, { ids }),
  ({ approvalId }) => approvalId,
)

const list = prepare(
  'approvals.list',
  { workspaceId: 'uuid', status: 'text?', before: 'uuid?', take: 'rows' },
  (orm, at) => {
    const ids = newestFirst(
      orm.select({ id: approvals.id }).from(approvals),
      { owner: approvals.workspaceId, id: approvals.id },
      at,
      ownedBy(approvals.workspaceId, at.workspaceId),
      at.status && eq(approvals.status, at.status),
    )
    return selectListed(orm).where(amongIds(approvals.id, ids)).orderBy(desc(approvals.id))
  },
  'page',
)

/** `histories`: of those that wait. */
export const listApprovals = async (
  db: Db,
  workspaceId: Uuid,
  page: PageRequest,
  status: ApprovalRow['status'] | undefined,
): Promise<{ records: ApprovalRecord[]; histories: Histories }> => {
  const rows = await db.run(list, { workspaceId, status, ...page })
  const waiting = rows.filter(({ firstPayment: known }) => known === null)
  const [decisions, histories] = await Promise.all([
    rows.length === 0
      ? []
      : decisionsOfList(
          db,
          rows.map(({ approval }) => approval.id),
        ),
    historiesOf(db, waiting),
  ])
  const records = await withBatches(
    db,
    rows.map((row) =>
      withDecisions(
        row,
        row.firstPayment ?? histories.get(row.approval.id) === undefined,
        ...decisions.filter(({ approvalId }) => approvalId === row.approval.id),
      ),
    ),
  )
  return { records, histories }
}
