"""SAP, the suppression algorithm for privacy (Peters), and BORE, by which it chooses."""
