import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { api } from '../../api/queries.ts'
import { t } from '../../lib/language.ts'
import { readStored, writeStored } from '../../lib/store.ts'
import { statusText } from '../../lib/words.ts'
import { nameOf } from '../../shell/account-menu.tsx'
import { SignedIn, useSession } from '../../shell/session.tsx'
import { useSignOut } from '../../shell/sign-out.ts'
import { SinglePage } from '../../shell/single-page.tsx'
import { useSwitchWorkspace } from '../../shell/workspace-switch.ts'
import { Button, LinkButton } from '../../ui/button.tsx'
import { useChange } from '../../ui/form.tsx'
import { Countdown, Empty, Facts, Failure, SkeletonText } from '../../ui/page.tsx'
import { roleHint } from './roles.ts'
import { tWork } from './texts.ts'

const storageKey = 'invitation'

/** The token is in the URL's fragment, which no server logs. It is removed from the URL immediately. */
const readInvitationToken = (): string | null => {
  const arrived = location.pathname === '/invitation' ? location.hash.slice(1) : ''
  if (arrived === '') return readStored(storageKey, 'session')
  writeStored(storageKey, arrived, 'session')
  history.replaceState(null, '', location.pathname)
  return arrived
}

const forgetInvitation = (): void => writeStored(storageKey, null, 'session')

/**
 * Landing page of an invitation link. Stores the token before anything else, because the person may have to sign in first.
 */
export const InvitationPage = () => {
  const [token] = useState(readInvitationToken)
  return (
    <SignedIn>
      <SinglePage title={tWork('invitation')}>{token ? <Invitation token={token} /> : <NoInvitation />}</SinglePage>
    </SignedIn>
  )
}

const NoInvitation = () => (
  <Empty icon="link" title={tWork('invitation.missing')} actions={<LinkButton href="/">{t('go_to_overview')}</LinkButton>}>
    {tWork('invitation.missing_note')}
  </Empty>
)

const Invitation = ({ token }: { token: string }) => {
  const { account } = useSession()
  const switchTo = useSwitchWorkspace()
  const signOut = useSignOut('/invitation')
  const [, navigate] = useLocation()
  const preview = useQuery({
    queryKey: ['invitation', token],
    queryFn: () => api.POST('/v1/workspaces/invitations/preview', { body: { token } }),
    retry: false,
  })
  const accept = useChange(() => api.POST('/v1/workspaces/invitations/accept', { body: { token } }), {
    announcement: ({ workspace }) => tWork('joined', { name: workspace.name }),
    invalidates: ['workspaces'],
    onDone: ({ workspace }) => {
      forgetInvitation()
      switchTo(workspace.id)
    },
  })
  const { data } = preview
  return (
    <div className="stack">
      <h1>{data ? tWork('join', { name: data.workspace.name }) : tWork('invitation')}</h1>
      {preview.isPending && <SkeletonText width="90%" height={60} />}
      <Failure error={preview.error} />
      {data && (
        <>
          <p className="muted">
            {tWork('invited_you', {
              display_name: data.invited_by.display_name ?? tWork('a_member'),
              name: data.workspace.name,
              role: statusText(data.role).toLowerCase(),
            })}
          </p>
          <Facts
            facts={{
              [tWork('role')]: `${statusText(data.role)}. ${roleHint(data.role)}`,
              [tWork('join_as')]: nameOf(account),
              [tWork('expires_in')]: <Countdown to={data.expires_at} bare />,
            }}
          />
          <Button variant="primary" size="large" wide busy={accept.isPending} onClick={() => accept.mutate()}>
            {tWork('invitation.accept')}
          </Button>
        </>
      )}
      <div className="row row-between">
        <Button
          variant="ghost"
          size="small"
          onClick={() => {
            forgetInvitation()
            navigate('/')
          }}
        >
          {tWork('not_now')}
        </Button>
        <Button variant="ghost" size="small" onClick={() => signOut.mutate()}>
          {tWork('another_account')}
        </Button>
      </div>
      <Failure error={accept.error} />
    </div>
  )
}
