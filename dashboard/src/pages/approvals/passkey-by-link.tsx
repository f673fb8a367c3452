import { useQuery } from '@tanstack/react-query'
import { api, call } from '../../api/client.ts'
import { hasCode } from '../../api/error.ts'
import { inWorkspace } from '../../api/in-workspace.ts'
import { workspacesQuery } from '../../api/queries.ts'
import type { Schemas } from '../../api/types.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import type { Choice } from './decided-words.ts'
import { useDecideByPasskey, useOwnPasskeys } from './use-passkeys.ts'

type Approval = Schemas['Approval']

const readIn = async (workspaceId: string, id: string): Promise<Approval | null> => {
  try {
    return await call(api.GET('/v1/approvals/{id}', { params: { path: { id } }, ...inWorkspace(workspaceId) }))
  } catch (error) {
    if (hasCode(error, 'not_found') || hasCode(error, 'forbidden')) return null
    throw error
  }
}

/** The approval in whichever of the person's workspaces it is. */
const useApprovalAnywhere = (id: string, enabled: boolean) => {
  const views = useQuery({ ...workspacesQuery, enabled })
  const workspaces = views.data?.data.filter(({ membership }) => membership.status === 'active')
  return useQuery({
    queryKey: ['approval', id, 'anywhere'],
    enabled: enabled && workspaces !== undefined,
    queryFn: async () => {
      const found = await Promise.all((workspaces ?? []).map(({ workspace }) => readIn(workspace.id, id)))
      return found.find((approval) => approval !== null) ?? null
    },
  })
}

type Props = { id: string; choice: Choice; onDecided: (approval: Approval) => void }

/** For a reader who is signed in and has a passkey: the first way that is offered. */
export const PasskeyByLink = ({ id, choice, onDecided }: Props) => {
  const passkeys = useOwnPasskeys()
  const { data: approval } = useApprovalAnywhere(id, passkeys.length > 0)
  if (!approval) return null
  return <DecideHere approval={approval} choice={choice} passkeys={passkeys} onDecided={onDecided} />
}

type HereProps = Omit<Props, 'id'> & { approval: Approval; passkeys: readonly Schemas['Passkey'][] }

const DecideHere = ({ approval, choice, passkeys, onDecided }: HereProps) => {
  const signing = useDecideByPasskey(approval, passkeys, onDecided)
  return (
    <div className="stack-s">
      <Button
        variant={choice === 'approve' ? 'primary' : 'red'}
        size="large"
        wide
        icon="fingerprint"
        busy={signing.isPending}
        onClick={() => signing.mutate(choice)}
      >
        {choice === 'approve' ? 'Approve' : 'Reject'} with Face ID, fingerprint or security key
      </Button>
      <Failure error={signing.error} />
    </div>
  )
}
