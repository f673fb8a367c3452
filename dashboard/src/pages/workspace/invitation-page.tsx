import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api, call } from '../../api/client.ts'
import { useTitle } from '../../lib/title.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { SignedIn, useSession } from '../../shell/session.tsx'
import { useSignOut } from '../../shell/sign-out.ts'
import { SinglePage } from '../../shell/single-page.tsx'
import { useSwitchWorkspace } from '../../shell/switch-workspace.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { Failure } from '../../ui/failure.tsx'
import { Empty } from '../../ui/layout.tsx'
import { announce } from '../../ui/toast.tsx'
import { heldInvitation, letGoOfInvitation } from './held-invitation.ts'

/** Where an invitation's link leads. Whoever opens it may have to sign in first; the token is taken up before that and waits. */
export const InvitationPage = () => {
  const [token] = useState(heldInvitation)
  return (
    <SignedIn>
      <Invitation token={token} />
    </SignedIn>
  )
}

const Invitation = ({ token }: { token: string | null }) => {
  useTitle('Invitation')
  const { account } = useSession()
  const client = useQueryClient()
  const switchTo = useSwitchWorkspace()
  const signOut = useSignOut()
  const [, navigate] = useLocation()
  const accept = useMutation({
    mutationFn: () => call(api.POST('/v1/workspaces/invitations/accept', { body: { token: token ?? '' } })),
    onSuccess: ({ workspace }) => {
      letGoOfInvitation()
      void client.invalidateQueries({ queryKey: ['workspaces'] })
      announce(`You are in ${workspace.name}`)
      switchTo(workspace.id)
    },
  })
  if (!token)
    return (
      <SinglePage>
        <Empty
          icon="link"
          title="This link has no invitation in it"
          actions={<LinkButton href="/">Go to the overview</LinkButton>}
        >
          Copy the whole link, or ask for a new one.
        </Empty>
      </SinglePage>
    )
  return (
    <SinglePage>
      <div className="stack">
        <div className="stack-xs">
          <h1>Join a workspace</h1>
          <p className="quiet">
            You have been invited. You will join as <strong>{nameOf(account)}</strong>.
          </p>
        </div>
        <Button variant="primary" size="large" wide busy={accept.isPending} onClick={() => accept.mutate()}>
          Accept the invitation
        </Button>
        <div className="row row-between">
          <Button
            variant="quiet"
            size="small"
            onClick={() => {
              letGoOfInvitation()
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
    </SinglePage>
  )
}
