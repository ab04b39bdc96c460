"""Oblivious transfer (OT): 128 base transfers, their extension to any number, the pads they leave, pools of them."""
