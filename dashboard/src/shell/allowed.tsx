import type { ReactNode } from 'react'
import type { Permission } from '../../../src/auth/permissions.ts'
import { t } from '../lib/language.ts'
import { statusText } from '../lib/words.ts'
import { LinkButton } from '../ui/button.tsx'
import { EmptyCard } from '../ui/page.tsx'
import { useSession } from './session.tsx'

/** Shows a form to people who may submit it. Tells others why it is missing and whom to ask. `action`: "make payments". */
export const Allowed = ({ permission, action, children }: { permission: Permission; action: string; children: ReactNode }) => {
  const { can, workspace, membership } = useSession()
  if (can(permission)) return children
  const role = statusText(membership.role).toLowerCase()
  return (
    <EmptyCard icon="lock" title={t('cannot', { action })} actions={<LinkButton href="/workspace">{t('cannot.who')}</LinkButton>}>
      {membership.status === 'suspended'
        ? t('cannot.suspended', { name: workspace.name })
        : t('cannot.role', { role: t(/^[aeiou]/.test(role) ? 'an_item' : 'a_item', { item: role }), name: workspace.name })}
    </EmptyCard>
  )
}
