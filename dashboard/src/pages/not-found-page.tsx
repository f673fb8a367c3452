import { LinkButton } from '../ui/button.tsx'
import { EmptyCard, Page } from '../ui/page.tsx'

export const NotFoundPage = () => (
  <Page title="Page not found">
    <EmptyCard icon="search" title="Nothing here" actions={<LinkButton href="/">Go to overview</LinkButton>}>
      The address may be wrong, or the page may have been removed.
    </EmptyCard>
  </Page>
)
