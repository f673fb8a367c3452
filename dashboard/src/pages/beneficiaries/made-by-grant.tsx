import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from 'wouter'
import { madeByQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { useSession } from '../../shell/session.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Notice } from '../../ui/layout.tsx'
import { useChange } from '../../ui/use-change.ts'
import { archiveShown, confirmBeneficiaries } from '../agents/made-acts.ts'

type Beneficiary = Schemas['Beneficiary']

/** Everything that one key or agent made: confirmed or archived together. */
export const MadeByGrant = ({ grantId }: { grantId: string }) => {
  const { can } = useSession()
  const made = useInfiniteQuery(madeByQuery(grantId))
  const all: readonly Beneficiary[] = made.data?.pages.flatMap(({ data }) => data) ?? []
  const listed = all.filter(({ status }) => status !== 'archived')
  const proposed = listed.filter(({ confirmation }) => confirmation === 'proposed')
  const act = useChange((_, { change, shown }: { change: typeof archiveShown; shown: readonly Beneficiary[] }) => change(shown), {
    announcement: (count) => `${count} done`,
    outdates: ['beneficiaries'],
  })
  return (
    <Notice tone="info" title="Only what one key or agent created or renamed">
      <p className="quiet">
        Look at each before you confirm it: payments by keys and agents then go out without asking.{' '}
        <Link href="/beneficiaries">Show all beneficiaries</Link>
      </p>
      {can('beneficiary.manage') && (
        <div className="row">
          <Button
            busy={act.isPending}
            disabled={proposed.length === 0}
            onClick={() => act.mutate({ change: confirmBeneficiaries, shown: proposed })}
          >
            Confirm {proposed.length}
          </Button>
          <Button
            variant="danger"
            busy={act.isPending}
            disabled={listed.length === 0}
            onClick={() => act.mutate({ change: archiveShown, shown: listed })}
          >
            Archive {listed.length}
          </Button>
        </div>
      )}
      <Failure error={act.error} />
    </Notice>
  )
}
