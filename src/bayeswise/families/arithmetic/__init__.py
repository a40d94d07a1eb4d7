"""arithmetic"""
