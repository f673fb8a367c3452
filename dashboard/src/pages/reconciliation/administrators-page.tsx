import { useInfiniteQuery } from '@tanstack/react-query'
import type { ComponentProps } from 'react'
import { adviceFor, hasCode } from '../../api/error.ts'
import { suspenseQuery } from '../../api/queries.ts'
import { LinkButton } from '../../ui/button.tsx'
import { EmptyCard, Page } from '../../ui/page.tsx'
import { tRecon } from './texts.ts'

export const AdministratorsPage = (props: ComponentProps<typeof Page>) => {
  const { error } = useInfiniteQuery(suspenseQuery)
  if (!hasCode(error, 'admin_required')) return <Page {...props} />
  return (
    <Page title={props.title}>
      <EmptyCard icon="lock" title={tRecon('admins_only')} actions={<LinkButton href="/">{tRecon('to_overview')}</LinkButton>}>
        {adviceFor(error)}
      </EmptyCard>
    </Page>
  )
}
