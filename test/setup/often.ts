/** How often to send a query so that it is planned, and then answered with the cached plan. */
export const often = 3;
