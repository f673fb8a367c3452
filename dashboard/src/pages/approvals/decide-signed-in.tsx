import { useQuery } from '@tanstack/react-query'
import { api, call, inWorkspace } from '../../api/client.ts'
import { hasCode } from '../../api/error.ts'
import { workspacesQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { SessionIn } from '../../shell/session.tsx'
import { useWallets } from '../../wallet/discovery.ts'
import { Cautions } from './cautions.tsx'
import { Decide, useHindrance } from './decide.tsx'
import { SignDecision, type Signing } from './sign-decision.tsx'

type Found = { approval: Schemas['Approval']; view: Schemas['WorkspaceView'] }

const readIn = async (view: Found['view'], id: string): Promise<Found | null> => {
  try {
    const options = { params: { path: { id } }, ...inWorkspace(view.workspace.id) }
    return { approval: await call(api.GET('/v1/approvals/{id}', options)), view }
  } catch (error) {
    if (hasCode(error, 'not_found') || hasCode(error, 'forbidden')) return null
    throw error
  }
}

/** The approval in whichever of the person's workspaces it is, read again and again while it waits. */
export const useOwnApproval = (id: string, signedIn: boolean): { found: Found | undefined; isPending: boolean } => {
  const views = useQuery({ ...workspacesQuery, enabled: signedIn })
  const active = views.data?.data.filter(({ membership }) => membership.status === 'active')
  const query = useQuery({
    queryKey: ['approval', id, 'anywhere'],
    enabled: signedIn && active !== undefined,
    refetchInterval: ({ state }) => state.data?.approval.status === 'pending' && 5000,
    queryFn: async () => {
      const found = await Promise.all((active ?? []).map((view) => readIn(view, id)))
      return found.find((one) => one !== null) ?? null
    },
  })
  return { found: query.data ?? undefined, isPending: signedIn && !views.isError && query.isPending }
}

type Props = Found & { account: Schemas['AccountWithIdentities']; signing: Signing; onDecided: () => void }

/** By the person's own session or passkey, as in the dashboard. */
export const DecideSignedIn = ({ account, view, ...props }: Props) => (
  <SessionIn account={account} view={view}>
    <Inside {...props} />
  </SessionIn>
)

const Inside = ({ approval, signing, onDecided }: Omit<Props, 'account' | 'view'>) => {
  const wallets = useWallets()
  const hindrance = useHindrance(approval)
  const signed = ['first_payment', ...(approval.payment?.decision.warnings ?? []).map(({ code }) => code)]
  return (
    <>
      <Cautions approval={approval} without={signed} />
      {!hindrance && wallets.length > 0 && (
        <div className="stack-s">
          <p className="quiet small">Or sign with your wallet</p>
          <SignDecision {...signing} />
        </div>
      )}
      <div className="answer-bar">
        <Decide approval={approval} onDecided={onDecided} />
      </div>
    </>
  )
}
