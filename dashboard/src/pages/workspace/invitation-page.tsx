import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../api/queries.ts'
import { keepStored, readStored } from '../../lib/store.ts'
import { statusText } from '../../lib/words.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { SignedIn, useSession, useSignOut, useSwitchWorkspace } from '../../shell/session.tsx'
import { SinglePage } from '../../shell/single-page.tsx'
import { Button, LinkButton } from '../../ui/button.tsx'
import { useChange } from '../../ui/form.tsx'
import { Countdown, Empty, Facts, Failure, SkeletonText } from '../../ui/page.tsx'
import { roleHint } from './roles.ts'

const name = 'invitation'

/** The token is in the address's fragment, so that no server logs it, and is removed from the address at once. */
const heldInvitation = (): string | null => {
  const arrived = location.pathname === '/invitation' ? location.hash.slice(1) : ''
  if (arrived === '') return readStored(name, 'session')
  keepStored(name, arrived, 'session')
  history.replaceState(null, '', location.pathname)
  return arrived
}

const forgetInvitation = (): void => keepStored(name, null, 'session')

/** The page of an invitation's link. A person may have to sign in first, so the token is stored before that. */
export const InvitationPage = () => {
  const [token] = useState(heldInvitation)
  return (
    <SignedIn>
      <SinglePage title="Invitation">{token ? <Invitation token={token} /> : <NoInvitation />}</SinglePage>
    </SignedIn>
  )
}

const NoInvitation = () => (
  <Empty icon="link" title="No invitation in this link" actions={<LinkButton href="/">Go to overview</LinkButton>}>
    Copy the whole link, or ask for a new one.
  </Empty>
)

const Invitation = ({ token }: { token: string }) => {
  const { account } = useSession()
  const switchTo = useSwitchWorkspace()
  const signOut = useSignOut()
  const [, navigate] = useLocation()
  const preview = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => api.POST('/v1/workspaces/invitations/preview', { body: { token } }),
    retry: false,
  })
  const accept = useChange(() => api.POST('/v1/workspaces/invitations/accept', { body: { token } }), {
    announcement: ({ workspace }) => `You joined ${workspace.name}`,
    outdates: ['workspaces'],
    onDone: ({ workspace }) => {
      forgetInvitation()
      switchTo(workspace.id)
    },
  })
  const { data } = preview
  return (
    <div className="stack">
      <h1>{data ? `Join ${data.workspace.name}` : 'Invitation'}</h1>
      {preview.isPending && <SkeletonText width="90%" height={60} />}
      <Failure error={preview.error} />
      {data && (
        <>
          <p className="quiet">
            {data.invited_by.display_name ?? 'A member'} invited you to {data.workspace.name} as{' '}
            {statusText(data.role).toLowerCase()}.
          </p>
          <Facts
            facts={{
              Role: `${statusText(data.role)}. ${roleHint(data.role)}`,
              'You join as': nameOf(account),
              'Expires in': <Countdown to={data.expires_at} />,
            }}
          />
          <Button variant="primary" size="large" wide busy={accept.isPending} onClick={() => accept.mutate()}>
            Accept invitation
          </Button>
        </>
      )}
      <div className="row row-between">
        <Button
          variant="quiet"
          size="small"
          onClick={() => {
            forgetInvitation()
            navigate('/')
          }}
        >
          Not now
        </Button>
        <Button variant="quiet" size="small" onClick={() => signOut.mutate()}>
          Use another account
        </Button>
      </div>
      <Failure error={accept.error} />
    </div>
  )
}
