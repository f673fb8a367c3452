import type { ReactNode } from 'react'
import type { Permission } from '../../../src/auth/permissions.ts'
import { statusText } from '../lib/words.ts'
import { LinkButton } from '../ui/button.tsx'
import { EmptyCard } from '../ui/page.tsx'
import { useSession } from './session.tsx'

/** A form for people who may submit it; for others, why it is missing and whom to ask. `action`: such as "make payments". */
export const Allowed = ({ permission, action, children }: { permission: Permission; action: string; children: ReactNode }) => {
  const { can, workspace, membership } = useSession()
  if (can(permission)) return children
  const role = statusText(membership.role).toLowerCase()
  return (
    <EmptyCard icon="lock" title={`Your role can’t ${action}`} actions={<LinkButton href="/workspace">See who can</LinkButton>}>
      {membership.status === 'suspended'
        ? `Your membership in ${workspace.name} is suspended. An owner or administrator can reinstate you.`
        : `You are ${/^[aeiou]/.test(role) ? 'an' : 'a'} ${role} in ${workspace.name}. An owner or administrator can give you another role.`}
    </EmptyCard>
  )
}
