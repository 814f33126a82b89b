import { ApolloProvider } from '@apollo/client/react';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { PaymentsProvider } from '../client/react.ts';
import { openService } from './service.ts';
import { Wallet } from './wallet.tsx';
import '../pages.css';

const root = document.getElementById('wallet');
const service = openService();
if (root) {
  createRoot(root).render(
    <StrictMode>
      <ApolloProvider client={service.apollo}>
        <PaymentsProvider payments={service.payments}>
          <Wallet />
        </PaymentsProvider>
      </ApolloProvider>
    </StrictMode>,
  );
}
