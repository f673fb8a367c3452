import { QueryClientProvider } from '@tanstack/react-query'
import { createQueryClient } from './api/query-client.ts'
import { Pages } from './pages.tsx'
import { Outcome } from './shell/outcome.tsx'
import { Crash } from './ui/crash.tsx'
import { Toasts } from './ui/toast.tsx'

const client = createQueryClient()

export const App = () => (
  <QueryClientProvider client={client}>
    <Outcome />
    <Crash>
      <Pages />
    </Crash>
    <Toasts />
  </QueryClientProvider>
)
